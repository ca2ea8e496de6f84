"use strict";
// What a report adds to its page: the place in the navigation, facts of a stackup row, findings by filter, open folds.
// Called again for another report in the same page, it lets go of the former one.
const showReport = (() => {
  let former = null;
  const all = (selector, within) => [...within.querySelectorAll(selector)];

  return (root) => {
    if (former) former.abort();
    former = new AbortController();
    listen(root, former.signal);
  };

  function listen(root, signal) {
    // A link to something folded opens the fold.
    const unfold = (id) => {
      const target = id && document.getElementById(id);
      for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
      return target;
    };
    document.addEventListener("click", (event) => {
      const link = event.target.closest && event.target.closest('a[href^="#"]');
      if (link && !link.closest(".stackup-box svg")) unfold(decodeURIComponent(link.getAttribute("href").slice(1)));
    }, { signal });

    // The navigation marks the last section whose head is above the upper third of the window.
    for (const nav of all("nav", root)) {
      const links = all('a[href^="#"]', nav);
      const heads = links.map((link) => document.getElementById(link.getAttribute("href").slice(1)));
      let waiting = false;
      const mark = () => {
        waiting = false;
        let here = -1;
        heads.forEach((head, index) => {
          const box = head && head.checkVisibility() && head.getBoundingClientRect();
          if (box && box.top < innerHeight / 3) here = index;
        });
        links.forEach((link, index) => {
          if (index === here) link.setAttribute("aria-current", "location");
          else link.removeAttribute("aria-current");
        });
        if (here >= 0 && nav.scrollWidth > nav.clientWidth) {
          nav.scrollLeft = links[here].offsetLeft - nav.clientWidth / 2;
        }
      };
      const later = () => {
        if (!waiting) requestAnimationFrame(mark);
        waiting = true;
      };
      addEventListener("scroll", later, { passive: true, signal });
      document.addEventListener("toggle", later, { capture: true, signal });
      later();

      // Where a link scrolls to follows from its height: its links wrap.
      const measure = () => document.documentElement.style.setProperty("--nav", `${nav.offsetHeight}px`);
      const observer = new ResizeObserver(measure);
      observer.observe(nav);
      signal.addEventListener("abort", () => observer.disconnect());
      measure();
    }

    // Hover, focus or a tap on a row of the cross-section shows what the table of rows says of it. Where the screen is
    // narrow the facts lie over the page: focus or a tap opens them, Escape or their button closes them.
    for (const box of all(".stackup-box", root)) {
      const panel = box.querySelector(".row-facts");
      const hits = all("a.row-hit", box);
      if (!hits.length) continue;
      const covering = matchMedia("(max-width: 1199px)");
      const close = document.createElement("button");
      close.type = "button";
      close.className = "close";
      close.textContent = "\u00d7";
      close.setAttribute("aria-label", "Close");
      let kept = 0;
      const show = (index) => {
        const row = document.getElementById(hits[index].getAttribute("href").slice(1));
        const heads = all("thead th", row.closest("table"));
        const title = document.createElement("p");
        title.className = "row-name";
        title.append(...row.cells[0].cloneNode(true).childNodes);
        const list = document.createElement("dl");
        [...row.cells].slice(1).forEach((cell, at) => {
          if (!cell.textContent.trim()) return;
          const line = document.createElement("div");
          const name = document.createElement("dt");
          const text = document.createElement("dd");
          name.textContent = heads[at + 1].textContent;
          text.append(...cell.cloneNode(true).childNodes);
          for (const note of all("sup", text)) {
            const source = document.getElementById(note.firstElementChild.getAttribute("href").slice(1));
            const words = document.createElement("span");
            words.className = "muted source";
            words.append(...source.cloneNode(true).childNodes);
            note.replaceWith(words);
          }
          for (const link of all('a[href*="f-"]', text)) {
            const card = document.getElementById(link.getAttribute("href").slice(1));
            const words = card && card.querySelector(".finding-title");
            if (words) link.append(": ", words.textContent);
          }
          line.append(name, text);
          list.append(line);
        });
        panel.replaceChildren(close, title, list);
        hits.forEach((hit, at) => {
          hit.classList.toggle("shown", at === index);
          hit.tabIndex = at === kept ? 0 : -1;
        });
      };
      const keep = (index) => {
        kept = index;
        show(index);
      };
      const open = (index) => {
        panel.classList.add("open");
        keep(index);
      };
      const shut = () => panel.classList.remove("open");
      close.addEventListener("click", () => {
        hits[kept].focus({ preventScroll: true });
        shut();
      });
      box.addEventListener("keydown", (event) => {
        if (event.key === "Escape") shut();
      });
      hits.forEach((hit, index) => {
        hit.addEventListener("mouseenter", () => {
          if (!covering.matches) show(index);
        });
        hit.addEventListener("focus", () => open(index));
        hit.addEventListener("click", (event) => {
          event.preventDefault();
          open(index);
        });
        hit.addEventListener("keydown", (event) => {
          const steps = { ArrowDown: 1, ArrowUp: -1, Home: -index, End: hits.length - 1 - index };
          const next = index + (steps[event.key] ?? NaN);
          if (next >= 0 && next < hits.length) {
            event.preventDefault();
            hits[next].focus({ preventScroll: false });
          }
        });
      });
      box.querySelector("svg").addEventListener("mouseleave", () => show(kept));
      panel.hidden = false;
      const first = hits.findIndex((hit) => hit.classList.contains("marked"));
      keep(first < 0 ? Math.min(1, hits.length - 1) : first);
    }

    // Chips choose findings: any of those chosen in a group, in every group; each counts what it would show.
    for (const bar of all(".chips", root)) {
      const chips = all("button.chip", bar);
      const cards = all(".finding[data-chips]", bar.closest("section")).map((card) => ({
        card,
        kinds: card.dataset.chips.split(";").map((kind) => {
          const [many, ...tokens] = kind.split(" ");
          return { many: Number(many), tokens: new Set(tokens) };
        }),
      }));
      const status = bar.querySelector(".chips-status");
      const chosen = () => chips.filter((chip) => chip.getAttribute("aria-pressed") === "true");
      const passes = (tokens, except) => {
        const groups = {};
        for (const chip of chosen()) {
          if (chip.dataset.group !== except) (groups[chip.dataset.group] ??= []).push(chip.dataset.token);
        }
        return Object.values(groups).every((wanted) => wanted.some((token) => tokens.has(token)));
      };
      // Findings of one card may be at other layers and nets: each counts for itself.
      const kinds = cards.flatMap((one) => one.kinds);
      const sum = (list) => list.reduce((total, one) => total + one.many, 0);
      const total = sum(kinds);
      const apply = (write) => {
        for (const one of cards) one.card.hidden = !one.kinds.some((kind) => passes(kind.tokens));
        for (const chip of chips) {
          const counts = (one) => one.tokens.has(chip.dataset.token) && passes(one.tokens, chip.dataset.group);
          const many = sum(kinds.filter(counts));
          chip.querySelector(".many").textContent = many;
          chip.classList.toggle("none", many === 0);
        }
        const picked = chosen();
        const found = sum(kinds.filter((one) => passes(one.tokens)));
        status.textContent = picked.length ? `${found} of ${total} findings match` : "";
        bar.querySelector(".chips-clear").hidden = !picked.length;
        for (const fold of all("details.more-findings", bar.closest("section"))) {
          if (picked.length) fold.open = true;
        }
        if (write) {
          const hash = picked.length ? `#${bar.id}=${picked.map((chip) => chip.dataset.token).join(",")}` : "#";
          history.replaceState(null, "", hash);
        }
      };
      const clear = () => chips.forEach((chip) => chip.setAttribute("aria-pressed", "false"));
      for (const chip of chips) {
        chip.addEventListener("click", () => {
          chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
          apply(true);
        });
      }
      bar.querySelector(".chips-clear").addEventListener("click", () => {
        clear();
        apply(true);
        chips[0].focus();
      });
      // A link to a finding that the chips hide ends their choice.
      const follow = () => {
        const [name, tokens] = location.hash.slice(1).split("=");
        if (name === bar.id) {
          const wanted = new Set((tokens || "").split(","));
          chips.forEach((chip) => chip.setAttribute("aria-pressed", String(wanted.has(chip.dataset.token))));
          apply(false);
        }
        const target = document.getElementById(name);
        const hidden = target && target.closest(".finding[hidden]");
        if (hidden && cards.some((one) => one.card === hidden)) {
          clear();
          apply(false);
          hidden.scrollIntoView();
        }
      };
      addEventListener("hashchange", follow, { signal });
      bar.hidden = false;
      apply(false);
      follow();
    }

    unfold(location.hash.slice(1).split("=")[0]);
  }
})();
