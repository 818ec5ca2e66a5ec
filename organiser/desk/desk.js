// The page of a desk: it shows how the recruitment stands, asks, and tells what was decided.
const at = (id) => document.getElementById(id);
const element = (name, text, attributes = {}) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(text ?? "");
  return made;
};
let now = null; // how the recruitment stands
let correcting = 0; // the number of the caller who is corrected; 0: a new one
let lastRejected = 0; // who may be called back
let busy = false; // waiting for an answer
let sending = null; // what was sent and not answered yet: sent again, it is the same request

async function ask(path, body) {
  const text = JSON.stringify(body);
  if (body && sending?.text !== text) sending = { text, key: crypto.randomUUID() };
  const sent = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key: sending.key, ...body }),
  };
  const answer = await fetch(path, sent);
  const told = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json() : {};
  if (!answer.ok) throw new Error(told.refused || answer.statusText || "the desk does not answer");
  if (body) sending = null;
  return told;
}

async function act(body) {
  busy = true;
  try {
    const answer = await ask("do", body);
    busy = false;
    tell(answer.said ?? answer.refused, answer.refused ? "refused" : / is ACCEPTED| has a seat/.test(answer.said) ? "yes" : "no");
    show(answer.now);
    return !answer.refused;
  } catch (error) {
    busy = false;
    tell(`No answer came: ${error.message}. Look whether the desk is still open, then try the same again: it counts once.`, "refused");
    return false;
  }
}

function tell(text, kind) {
  at("said").textContent = text;
  at("said").className = kind;
}

function questions() {
  at("questions").replaceChildren(
    ...Object.entries(now.features).map(([feature, values], f) => {
      const set = element("fieldset", element("legend", feature));
      for (const value of [...values, "-"]) {
        const label = element("label", element("input", "", { type: "radio", name: `q${f}`, value }));
        label.append(element("span", value === "-" ? "not stated" : value));
        set.append(label);
      }
      return set;
    }),
  );
}

function show(news) {
  const first = now === null;
  now = news;
  if (first) {
    questions();
    if (now.last) tell(`${now.last}.`, "last");
  }
  at("words").textContent = `${now.words}.`;
  const round = (number) => Math.round(number).toLocaleString("en");
  const last = now.ahead === null ? "" : `, ${round(now.ahead)} until the last`;
  at("ahead").textContent =
    now.seated === now.size ? "The committee is full." : now.next === null ? "Nobody can be accepted as things stand." : `About ${round(now.next)} more callers until the next seat${last}.`;
  const seldom = `Such a warning is false in at most ${Math.round(100 * now.false)} % of recruitments.`;
  const late = now.late.length ? `${now.late.join(". ")}. ${seldom}` : "";
  if (at("late").textContent !== late) at("late").textContent = late;
  const room = Object.fromEntries(now.rows.map((row) => [`${row.feature}\n${row.value}`, row.room]));
  Object.keys(now.features).forEach((feature, f) => {
    for (const input of document.querySelectorAll(`input[name=q${f}]`)) {
      const closed = input.value !== "-" && !room[`${feature}\n${input.value}`];
      input.parentElement.classList.toggle("closed", closed);
      input.parentElement.title = closed ? "no room now" : "";
    }
  });
  at("decide").disabled = busy || (now.seated === now.size && !correcting);
  at("decide").textContent = correcting ? `Correct caller ${correcting}` : "Decide";
  at("caller-title").textContent = correcting ? `Caller ${correcting}, corrected` : `Caller ${now.callers.length + 1}`;
  groups();
  callers();
}

function groups() {
  const band = "fewest" in now.rows[0];
  const heads = ["group", "taken", band ? "allowed" : "wanted", "called so far", "expected by now"];
  const head = element("tr");
  heads.forEach((text, k) => head.append(element("th", text, { scope: "col", className: k ? "number" : "" })));
  const rows = now.rows.map((row) => {
    const late = now.late.some((text) => text.startsWith(`${row.feature} ${row.value}:`));
    const line = element("tr", "", { className: `${row.room ? "" : "closed"} ${late ? "late" : ""}` });
    line.append(element("th", `${row.feature}: ${row.value}${row.room ? "" : " (no room)"}`, { scope: "row" }));
    const wanted = band ? (row.fewest === row.most ? row.fewest : `${row.fewest} to ${row.most}`) : row.wanted.toFixed(1);
    for (const cell of [row.seated, wanted, row.called, row.expected.toFixed(1)])
      line.append(element("td", String(cell), { className: "number" }));
    return line;
  });
  at("groups").replaceChildren(element("thead", head), Object.assign(document.createElement("tbody")));
  at("groups").tBodies[0].append(...rows);
}

function callers() {
  const only = at("only-seated").checked;
  const head = element("tr");
  for (const text of ["caller", ...Object.keys(now.features), "seat", "what to do"]) head.append(element("th", text, { scope: "col" }));
  const body = document.createElement("tbody");
  for (const caller of [...now.callers].reverse()) {
    if (only && !caller.seated) continue;
    const line = element("tr", element("th", caller.id ? `${caller.number} (${caller.id})` : String(caller.number), { scope: "row" }));
    for (const word of caller.person) line.append(element("td", word === "-" ? "not stated" : word));
    line.append(element("td", caller.seated ? "yes" : caller.accepted ? "given back" : caller.reserve ? "reserve" : "no"));
    const buttons = element("td");
    const button = (text, what) => {
      buttons.append(element("button", text, { type: "button", onclick: what, ariaLabel: `${text} caller ${caller.number}` }), " ");
    };
    if (caller.seated) button("withdraw", () => sure(`Caller ${caller.number} (${caller.person.join(", ")}) gives the seat back?`, { what: "withdraw", number: caller.number }));
    else if (caller.accepted) button("seat again", () => act({ what: "again", number: caller.number }));
    button("correct", () => correct(caller));
    line.append(buttons);
    body.append(line);
  }
  at("callers").replaceChildren(element("thead", head), body);
  const list = element("ol");
  for (const number of now.reserve) {
    const person = now.callers.find((caller) => caller.number === number).person.join(", ");
    const line = element("li", `caller ${number} (${person}) `);
    for (const [text, what] of [["has the seat", "again"], ["declines", "decline"]])
      line.append(element("button", text, { type: "button", ariaLabel: `caller ${number} ${text}`, onclick: () => act({ what, number }) }), " ");
    list.append(line);
  }
  at("call-next").replaceChildren();
  if (now.reserve.length) at("call-next").append("These of the reserve list fit now. Call them in this order, which was drawn by lot:", list);
}

function correct(caller) {
  correcting = caller.number;
  caller.person.forEach((word, f) => {
    for (const input of document.querySelectorAll(`input[name=q${f}]`)) input.checked = input.value === word;
  });
  show(now);
  at("decide").focus();
}

function sure(question, body) {
  const dialog = at("sure");
  dialog.querySelector("p").textContent = question;
  for (const button of dialog.querySelectorAll("button"))
    button.onclick = () => {
      dialog.close();
      if (button.value === "yes") act(body);
    };
  dialog.showModal();
}

function clear() {
  at("questions").reset();
  at("id").value = at("household").value = "";
  correcting = 0;
  show(now);
  document.querySelector("#questions input")?.focus();
}

async function decide() {
  const person = {};
  for (const [f, feature] of Object.keys(now.features).entries()) {
    const input = document.querySelector(`input[name=q${f}]:checked`);
    if (!input) {
      tell(`${feature}: there is no answer yet.`, "refused");
      document.querySelector(`input[name=q${f}]`).focus();
      return;
    }
    person[feature] = input.value;
  }
  const number = correcting || now.callers.length + 1;
  const body = correcting ? { what: "correct", number, person } : { what: "offer", person, id: at("id").value.trim(), household: at("household").value.trim() };
  at("decide").disabled = true;
  const done = await act(body);
  if (done) {
    const caller = now.callers.find((one) => at("said").textContent.startsWith(`Caller ${one.number} `));
    lastRejected = caller && !caller.accepted && !caller.reserve ? caller.number : 0;
    at("call-back").hidden = !lastRejected;
    clear();
  } else show(now);
}

at("decide").onclick = decide;
at("questions").onsubmit = (event) => (event.preventDefault(), decide());
at("clear").onclick = () => (tell("", ""), clear());
at("reserve-yes").onclick = () => ((at("call-back").hidden = true), act({ what: "reserve", number: lastRejected }));
at("reserve-no").onclick = () => (at("call-back").hidden = true);
at("only-seated").onchange = callers;
at("members").onclick = () => {
  // A spreadsheet must take what begins like a formula for a word.
  const harmless = (word) => (/^[=+\-@\t\r]./.test(word) ? `'${word}` : word);
  const quote = (word) => `"${harmless(String(word)).replaceAll('"', '""')}"`;
  const rows = now.callers.filter((caller) => caller.seated).map((c) => [c.number, c.id, ...c.person].map(quote).join(","));
  const text = [["caller", "id", ...Object.keys(now.features)].map(quote).join(","), ...rows].join("\n") + "\n";
  const link = element("a", "", { href: URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" })), download: "members.csv" });
  link.click();
};
// Other tabs decide, too: look again and again.
const look = () => ask("now").then(show, (error) => tell(`The desk does not answer: ${error.message}.`, "refused"));
look();
setInterval(() => document.hidden || look(), 1500);
