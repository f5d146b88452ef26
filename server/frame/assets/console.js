/* global document, window, htmx */
// Tasks that the pages cannot do without scripts: report that the server is unreachable, and stop refreshing a page in the background.
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

// Prevents a form from being sent twice, and its page from being refreshed meanwhile.
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
