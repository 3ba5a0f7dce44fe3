const place = history.state, begin = () => arrive({ load: true, place });
begin();
// The browser goes to the fragment in its own way until everything has been loaded.
if (location.hash) on(window, 'load', () => setTimeout(() => touched || begin()));
