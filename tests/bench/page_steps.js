// What a reader does, in milliseconds until it is on the screen.
async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const until = async (holds) => {
    for (let frames = 0; frames < 600 && !holds(); frames++) await frame();
    if (!holds()) throw new Error(`never: ${holds}`);
  };
  const timed = async (act, holds) => {
    await frame();
    const start = performance.now();
    act();
    await until(holds);
    await frame();
    return performance.now() - start;
  };
  const goes = (to) => () => (location.hash = to);
  const shows = (id) => () => !document.getElementById(id).hidden;
  const rows = () => document.querySelectorAll("#requirements tbody tr").length;
  const count = () => document.getElementById("count").textContent;
  const types = (words) => () => {
    const field = document.querySelector("#filters [name=q]");
    field.value = words;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  };
  const specification = document.querySelector("article.view").id;
  const found = {};
  found.specification = await timed(goes(specification), shows(specification));
  const link = document.querySelector(`article[id="${specification}"] pre a`);
  found.panel = await timed(() => link.click(), shows("panel"));
  found.requirements = await timed(goes("requirements?"), () => shows("requirements")() && rows() > 0);
  const all = count();
  found.filter = await timed(types("must not"), () => count() !== all);
  const some = count();
  found.keystroke = await timed(types("server"), () => count() !== some);
  return found;
}
