/* global document, window, htmx */
// What the pages cannot do by themselves: say that the server is lost, and leave a page alone that nobody sees.
const lost = document.getElementById('connection-lost');
let submitting = false;

document.addEventListener('htmx:before:request', (event) => {
  if (document.hidden || submitting) event.preventDefault();
});
document.addEventListener('htmx:error', () => say('Connection to Daybook lost, trying again …'));
document.addEventListener('htmx:after:request', (event) => {
  const { status } = event.detail.ctx.response;
  say(status < 400 ? '' : 'Daybook cannot show what is new; trying again …');
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) htmx.trigger('#main', 'every');
});

// A form that is being worked on is not sent twice, and its page is not refreshed meanwhile.
document.addEventListener('submit', (event) => {
  if (event.target.method !== 'post') return;
  if (submitting) event.preventDefault();
  submitting = true;
  event.submitter?.setAttribute('aria-busy', 'true');
});
window.addEventListener('pageshow', () => {
  submitting = false;
});

function say(text) {
  if (lost.textContent !== text) lost.textContent = text;
}
