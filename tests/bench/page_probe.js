// Runs before the page does: when it can be used, and what kept it from answering.
addEventListener("DOMContentLoaded", () => {
  const seen = (globalThis.duvetSeen = { useful: 0, longest: 0, paint: 0 });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.longest = Math.max(seen.longest, entry.duration);
  }).observe({ type: "longtask", buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntriesByName("first-contentful-paint")) seen.paint = entry.startTime;
  }).observe({ type: "paint", buffered: true });
  // The scripts of the page are modules, so they have run before this.
  requestAnimationFrame(() => setTimeout(() => (seen.useful = performance.now())));
});
