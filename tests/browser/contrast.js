// The contrast of every word of a drawing against what is drawn beneath it, as WCAG 2.2 reckons it (1.4.3).
(() => {
  const colour = (text) => (text.startsWith("url") || text === "none" ? null : text.match(/[\d.]+/g)?.map(Number));
  const over = (top, under) => [0, 1, 2].map((k) => top[k] * top[3] + under[k] * (1 - top[3]));
  const linear = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ratio = (a, b) => {
    const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
    return (bright + 0.05) / (dark + 0.05);
  };
  const opacity = (one) => (one instanceof Element ? getComputedStyle(one).opacity * opacity(one.parentElement) : 1);
  const painted = (one) => {
    const style = getComputedStyle(one);
    const isShape = one instanceof SVGElement && one.tagName !== "svg";
    const found = colour(isShape ? style.fill : style.backgroundColor);
    return found && [...found.slice(0, 3), (found[3] ?? 1) * (isShape ? style.fillOpacity * opacity(one) : 1)];
  };
  const paper = colour(getComputedStyle(document.body).backgroundColor).slice(0, 3);
  const beneath = (box) => {
    const shapes = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    const layers = shapes.filter((one) => !one.closest("text")).map(painted).filter((one) => one && one[3] > 0);
    return layers.reverse().reduce((under, top) => over(top, under), paper);
  };
  const isWord = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  return [...document.querySelectorAll("svg text, svg tspan")]
    .filter((one) => isWord(one) && one.checkVisibility() && one.getBoundingClientRect().width && painted(one))
    .map((one) => {
      const under = beneath(one.getBoundingClientRect());
      return { word: one.textContent.trim().slice(0, 40), ratio: ratio(over(painted(one), under), under), under };
    });
})();
