const lists = { __proto__: null }, idle = window.requestIdleCallback ?? (work => setTimeout(work, 30));

// Shows a long list in pieces: the first at once, more when the browser is idle, the rest while scrolling.
class List {
  constructor(box) { this.box = box; }

  show(pieces) {
    this.pieces = pieces;
    this.shown = 0;
    this.box.replaceChildren();
    this.fill(pieces);
  }

  more(count = 100) {
    if (this.shown < this.pieces.length) this.box.insertAdjacentHTML('beforeend', this.pieces.slice(this.shown, this.shown += count).join(''));
  }

  fill(pieces) {
    if (pieces !== this.pieces || this.shown >= 1000) return;
    this.more();
    idle(() => this.fill(pieces));
  }
}

const counted = (shown, { length }, noun) => `${shown === length ? '' : shown + ' of '}${length} ${noun}${length === 1 ? '' : 's'}`;

on(window, 'scroll', () => {
  const list = lists[current.id];
  if (list?.box.getBoundingClientRect().bottom < innerHeight * 3) list.more();
}, { passive: true });
on(window, 'beforeprint', () => lists[current.id]?.more(Infinity));
