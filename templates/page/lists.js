const ROWS = 100, SOON = 1000;
const idle = globalThis.requestIdleCallback ?? (work => setTimeout(work, 30));

// Shows pieces of a long list: the first at once, some when there is time, the others as one scrolls.
class List {
  constructor(box) {
    this.box = box;
    this.pieces = [];
    this.shown = 0;
  }

  show(pieces) {
    this.pieces = pieces;
    this.shown = 0;
    this.box.replaceChildren();
    this.more();
    this.fill(pieces);
  }

  more(count = ROWS) {
    if (this.shown >= this.pieces.length) return;
    this.box.insertAdjacentHTML('beforeend', this.pieces.slice(this.shown, this.shown + count).join(''));
    this.shown += count;
  }

  fill(pieces) {
    idle(() => {
      if (pieces !== this.pieces || this.shown >= SOON) return;
      this.more();
      this.fill(pieces);
    });
  }
}

const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;
const found = (shown, all, one, many) => shown === all ? plural(all, one, many) : `${shown} of ${plural(all, one, many)}`;

addEventListener('scroll', () => {
  const list = lists[current.id];
  if (list && list.box.getBoundingClientRect().bottom < innerHeight * 3) list.more();
}, { passive: true });
addEventListener('beforeprint', () => lists[current.id]?.more(Infinity));
