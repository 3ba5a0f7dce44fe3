const place = history.state, begin = () => arrive({ load: true, place });
begin();
// Until everything is loaded, the browser scrolls to the fragment itself.
if (location.hash) on(window, 'load', () => setTimeout(() => touched || begin()));
