"use strict";
// The missing facts as a form: what is typed is tried on the verdict, shown as a diff, then written.

const TRY_AFTER_MS = 600;
const LONGEST_SELECT = 12;
const TYPED = ["workload", "form factor", "laminate", "foil", "names", "text", "number"];
const facts = { number: 0, made: 0, timer: null, waits: false, tried: true, asked: new Map() };

function byId(id) {
  return document.getElementById(id);
}

/* Called with each new state of the session. */
async function showFacts(next) {
  const isFirst = facts.number === 0 && next.form !== 0;
  byId("facts-open").hidden = next.form === 0;
  byId("done").hidden = next.kicad;
  if (next.form !== facts.number) {
    facts.number = next.form;
    await askFacts();
  }
  if (isFirst && !next.kicad) openFacts(true);
  if (facts.waits && next.phase === "idle") await tryAnswers();
}

async function askFacts() {
  const told = await post("form");
  if (!told || !told.effect) return;
  const isFresh = !facts.isLoaded; // a page that was reloaded shows what the session still holds as typed
  const typed = isFresh ? told.answers : {};
  facts.isLoaded = true;
  const isFocused = byId("facts-form").contains(document.activeElement) ? document.activeElement : null;
  const known = new Set(told.questions.map((one) => one.id));
  const given = answers();
  for (const [id, one] of facts.asked) {
    const isOver = !told.asked.includes(id) && !given[id] && !one.contains(isFocused);
    if (!known.has(id) || isOver) forget(id, one);
  }
  for (const question of told.questions) {
    if (facts.asked.has(question.id)) renew(question, isFocused);
    else if (told.asked.includes(question.id) || typed[question.id]) add(question);
    if (typed[question.id]) fill(facts.asked.get(question.id), typed[question.id]);
  }
  for (const group of byId("facts-form").querySelectorAll("[data-group]")) {
    group.hidden = group.querySelector(".fact") === null;
  }
  byId("facts-none").hidden = facts.asked.size > 0;
  const elsewhere = (told.elsewhere || []).map((text) => element("li", text));
  byId("facts-elsewhere").replaceChildren(...elsewhere);
  if (isFocused) isFocused.focus();
  showEffect(told);
  if (isFresh) {
    showErrors(told.errors);
    byId("facts-diff").disabled = !told.changed || Object.keys(told.errors).length > 0;
  }
  facts.tried = told.is_tried;
  if (!told.is_tried && !byId("facts").hidden && Object.keys(answers()).length) facts.waits = true;
}

function fill(fact, typed) {
  for (const made of fact.querySelectorAll("input, select")) {
    made.value = typed[made.name] || "";
    if (made.name === "net") offerParts(fact);
  }
}

function forget(id, one) {
  one.remove();
  facts.asked.delete(id);
}

// --- questions

/* Where a question stands: facts that nothing waits for are folded, and so are rows that one answer for all covers. */
function groupOf(question) {
  if (question.is_covered && facts.asked.has("laminate")) return byId("facts-rows");
  if (question.is_idle) return byId("facts-idle");
  return byId("facts-form").querySelector(`[data-group="${question.part}"]`);
}

function add(question) {
  const fact = document.createElement("fieldset");
  fact.className = "fact";
  fact.dataset.question = question.id;
  fact.append(element("legend", question.title));
  const notes = `fact-${(facts.made += 1)}`;
  const inputs = document.createElement("div");
  inputs.className = "fact-inputs";
  for (const field of question.fields) inputs.append(input(question, field, notes));
  const decides = element("p", "", "fact-decides");
  const now = element("p", "", "fact-now");
  decides.id = `${notes}-decides`;
  now.id = `${notes}-now`;
  fact.append(inputs, decides, now);
  facts.asked.set(question.id, fact);
  renew(question);
}

function input(question, field, notes) {
  const id = `${notes}-${field.key}`;
  const row = document.createElement("div");
  const label = element("label", field.label);
  label.htmlFor = id;
  if (field.label === question.title) label.className = "unseen"; // the legend says it
  const isTyped = TYPED.includes(field.kind) || field.choices.length > LONGEST_SELECT;
  const made = document.createElement(isTyped ? "input" : "select");
  made.id = id;
  made.name = field.key;
  if (isTyped) {
    made.type = "text";
    made.autocomplete = "off";
    made.spellcheck = false;
    if (field.kind === "number") made.inputMode = "decimal";
  }
  const error = element("p", "", "fact-error");
  error.id = `${id}-error`;
  made.setAttribute("aria-describedby", `${error.id} ${notes}-decides ${notes}-now`);
  made.required = field.is_needed && question.fields.length === 1;
  row.append(label, made, error);
  offerChoices(made, row, field);
  made.value = field.value;
  return row;
}

/* What an input offers: a list to search, or options. */
function offerChoices(made, row, field) {
  const options = field.choices.map((one) => {
    const option = document.createElement("option");
    option.value = one.value;
    if (made.tagName === "SELECT") option.textContent = one.note ? `${one.value}: ${one.note}` : one.value;
    else option.label = one.note ? `${one.value}: ${one.note}` : one.value;
    return option;
  });
  if (made.tagName === "SELECT") {
    const chosen = made.value;
    const none = document.createElement("option");
    none.value = "";
    none.textContent = "not stated";
    made.replaceChildren(none, ...options);
    made.value = chosen;
    return;
  }
  if (!options.length && !Object.keys(field.choices_by).length) return;
  let list = row.querySelector("datalist");
  if (!list) {
    list = document.createElement("datalist");
    list.id = `${made.id}-list`;
    made.setAttribute("list", list.id);
    row.append(list);
  }
  list.replaceChildren(...options);
}

/* The words of a question, and what its inputs offer, as the last check has them. */
function renew(question, focused = null) {
  const fact = facts.asked.get(question.id);
  const group = groupOf(question);
  if (fact.parentElement !== group && !fact.contains(focused)) group.append(fact);
  fact.querySelector(".fact-decides").textContent = question.decides;
  fact.querySelector(".fact-now").textContent = `Now: ${question.now}`;
  fact.fields = question.fields;
  for (const field of question.fields) {
    const made = fact.querySelector(`[name="${field.key}"]`);
    if (made && made !== document.activeElement) offerChoices(made, made.parentElement, field);
  }
  offerParts(fact);
}

/* Parts are offered by the net that is typed in the same question. */
function offerParts(fact) {
  const net = fact.querySelector("[name=net]");
  for (const field of fact.fields) {
    const parts = net && field.choices_by[net.value.trim()];
    if (!parts) continue;
    const made = fact.querySelector(`[name="${field.key}"]`);
    offerChoices(made, made.parentElement, { ...field, choices: parts.map((one) => ({ value: one, note: "" })) });
  }
}

// --- answers

function answers() {
  const found = {};
  for (const [id, fact] of facts.asked) {
    const typed = {};
    for (const made of fact.querySelectorAll("input, select")) if (made.value.trim()) typed[made.name] = made.value;
    if (Object.keys(typed).length) found[id] = typed;
  }
  return found;
}

async function tryAnswers() {
  clearTimeout(facts.timer);
  facts.timer = null;
  facts.waits = false;
  const told = await post("form-try", { answers: answers() });
  if (!told) return false;
  facts.waits = told.waits;
  showErrors(told.errors);
  const isWrong = Object.keys(told.errors).length > 0;
  byId("facts-diff").disabled = !told.changed || isWrong;
  facts.tried = !told.changed;
  byId("facts-trying").textContent = told.changed ? "Checking with these answers ..." : "";
  if (!told.changed) byId("facts-effect").replaceChildren(byId("facts-effect").firstElementChild); // the verdict now
  return !isWrong && told.changed;
}

function showErrors(errors) {
  for (const [id, fact] of facts.asked) {
    for (const made of fact.querySelectorAll("input, select")) {
      const wrong = (errors[id] || {})[made.name] || "";
      byId(`${made.id}-error`).textContent = wrong;
      if (wrong) made.setAttribute("aria-invalid", "true");
      else made.removeAttribute("aria-invalid");
    }
  }
}

function showEffect(told) {
  const line = (name, verdict, why) => {
    const made = element("p", `${name}: `);
    made.append(element("strong", verdict), document.createTextNode(`. ${why}.`));
    return made;
  };
  const lines = [line("Verdict now", told.effect.now, told.effect.now_why)];
  if (told.is_tried) {
    lines.push(line("With these answers", told.effect.then, told.effect.then_why), element("p", told.effect.changes));
    lines.push(...told.effect.notes.map((text) => element("p", text)));
  }
  byId("facts-effect").replaceChildren(...lines);
  byId("facts-trying").textContent = "";
}

function changed() {
  byId("facts-file").replaceChildren();
  byId("facts-write").disabled = true;
  clearTimeout(facts.timer);
  facts.timer = setTimeout(tryAnswers, TRY_AFTER_MS);
}

function openFacts(isOpen) {
  byId("facts").hidden = !isOpen;
  byId("facts-open").setAttribute("aria-expanded", String(isOpen));
  if (isOpen && !facts.tried && Object.keys(answers()).length) facts.waits = true;
}

/* The report's lines to paste are folded: the form is what is offered. */
function offerForm(report) {
  for (const lines of report.querySelectorAll("pre.paste")) {
    const words = lines.previousElementSibling;
    const head = words.previousElementSibling;
    const folded = document.createElement("details");
    const asked = element("p", "");
    const button = element("button", "Answer these in a form", "asks-session");
    button.type = "button";
    button.addEventListener("click", () => {
      openFacts(true);
      byId("facts").scrollIntoView();
      byId("facts-title").focus({ preventScroll: true });
    });
    asked.append(button);
    head.before(asked, folded);
    folded.append(element("summary", "The same as lines to paste"), words, lines);
    head.remove();
  }
}

byId("facts-open").addEventListener("click", () => {
  openFacts(byId("facts").hidden);
  if (!byId("facts").hidden) byId("facts").scrollIntoView();
});
byId("facts-close").addEventListener("click", () => {
  openFacts(false);
  byId("facts-open").focus();
});
byId("facts-form").addEventListener("submit", (event) => event.preventDefault());
byId("facts-form").addEventListener("input", (event) => {
  const fact = event.target.closest(".fact");
  if (fact && event.target.name === "net") offerParts(fact);
  changed();
});
byId("facts-diff").addEventListener("click", async () => {
  if (facts.timer !== null && !(await tryAnswers())) return;
  const file = await post("form-diff");
  if (!file) return;
  const shown = difference(file);
  shown.open = true;
  byId("facts-file").replaceChildren(shown);
  byId("facts-write").disabled = false;
  byId("facts-write").focus();
});
byId("facts-write").addEventListener("click", async () => {
  byId("facts-write").disabled = true;
  const done = await post("form-write");
  if (!done) return;
  for (const [id, fact] of [...facts.asked]) forget(id, fact);
  byId("facts-file").replaceChildren();
  byId("facts-diff").disabled = true;
  say(done.line);
});
byId("done").addEventListener("click", async () => {
  if (await post("done")) end();
});
