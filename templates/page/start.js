const place = history.state, asked = () => arrive({ load: true, place });
asked();
// The browser goes to the fragment in its own way until everything has been loaded.
if (location.hash) addEventListener('load', () => setTimeout(() => touched || asked()));
