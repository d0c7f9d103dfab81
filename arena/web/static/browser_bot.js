// A bot that plays at random in a page. It speaks the protocol over a WebSocket, one JSON message per frame.

const name = document.querySelector("#name"), game = document.querySelector("#game");
const state = document.querySelector("#state"), results = document.querySelector("#results");
let socket = null;

function play(token) {
  const say = (message) => socket.send(JSON.stringify(message));
  const own = socket = new WebSocket(new URL("../../play", import.meta.url).href.replace(/^http/, "ws"));
  socket.onopen = () => {
    if (token === null) say({ register: { name: name.value } });
    else {
      say({ token });
      say({ hello: { games: [game.value], capacity: 1, client: "browser_bot.js" } });
    }
  };
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.token !== undefined) {  // registered: the server sends the token only once
      localStorage.setItem(`token ${message.name}`, message.token);
      token = message.token;
      return socket.onopen();
    }
    if (message.code !== undefined) return show(`The server says: ${message.message}`);
    if (message.welcome) show(`${message.welcome.bot} waits for a match.`);
    const reply = {};
    if (message.heartbeat !== undefined) reply.heartbeat = message.heartbeat;
    if (message.invitations) reply.ready = message.invitations.map(({ invitationId }) => ({ invitationId }));
    if (message.decisions) reply.answers = message.decisions.map(answer);
    if (Object.keys(reply).length > 0) say(reply);
    for (const start of message.starts ?? []) show(`Match ${start.matchId}: ${start.bots.join(", ")}.`);
    for (const report of message.reports ?? []) list(report);
  };
  socket.onclose = ({ code, reason }) => {
    if (own !== socket || code === 1000) return;
    if (code >= 4000 && code !== 4014) return show(`${state.textContent} It is over: ${reason || code}.`);  // 4014: UNAVAILABLE
    show("The connection is lost. The bot connects again.");
    setTimeout(() => { if (own === socket) play(token); }, 2000 + 2000 * Math.random());
  };
}

// The bot's decision, here any legal action. decision.sixthSense or decision.nullern has all the bot may know.
function answer({ matchId, decisionId, legal }) {
  return { matchId, decisionId, action: legal[Math.floor(Math.random() * legal.length)] };
}

function show(text) {
  state.textContent = text;
}

function list({ matchId, places, seat = 0 }) {
  results.append(Object.assign(document.createElement("li"), { textContent: `Match ${matchId}: place ${places[seat]}.` }));
}

document.querySelector("#play").hidden = false;
document.querySelector("#play").onsubmit = (event) => {
  event.preventDefault();
  socket?.close();
  play(localStorage.getItem(`token ${name.value}`));
};
