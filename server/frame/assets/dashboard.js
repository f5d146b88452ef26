/* global document, drawChart, element, history, location, matchMedia, navigator, URLSearchParams, window */
// Switches between the views embedded in the page when another connection or currency is chosen, and draws charts. The server
// has prepared all words and figures; this script only places them.
const { choices, charts } = JSON.parse(document.getElementById('dashboard-data').textContent);
const filter = document.getElementById('filter');

filter.elements.connection.addEventListener('change', () => {
  offerCurrencies(filter.elements.currency.value);
  keepInAddress();
  showAll();
});
filter.elements.currency.addEventListener('change', () => {
  keepInAddress();
  showAll();
});
filter.addEventListener('submit', (event) => event.preventDefault());
chooseFromAddress();
showAll();
tellAges();
offerCopying();
openTarget();
setInterval(tellAges, 30_000);
window.addEventListener('hashchange', openTarget);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showAll);

function chooseFromAddress() {
  const asked = new URLSearchParams(location.search);
  if (choices.connections.includes(asked.get('connection')))
    filter.elements.connection.value = asked.get('connection');
  offerCurrencies(asked.get('currency') ?? filter.elements.currency.value);
}

/** Offers the currencies of the chosen connection, and selects the wanted one if it is among them. */
function offerCurrencies(wanted) {
  const codes = choices.currencies[filter.elements.connection.value] ?? [];
  filter.elements.currency.replaceChildren(
    ...codes.map((code) => element('option', { value: code }, code === '' ? 'without a currency' : code)),
  );
  if (codes.includes(wanted)) filter.elements.currency.value = wanted;
}

function keepInAddress() {
  const { connection, currency } = filter.elements;
  const query = new URLSearchParams({ connection: connection.value, currency: currency.value });
  history.replaceState(null, '', `?${query}${location.hash}`);
}

function showAll() {
  const connection = filter.elements.connection.value;
  const currency = filter.elements.currency.value;
  for (const chart of charts) {
    const view = chart.views.find(
      (one) => one.connection === connection && (one.currency === undefined || one.currency === currency),
    );
    show(document.getElementById(chart.id), chart, view);
  }
}

function show(section, { title, empty }, view) {
  const part = (name) => section.querySelector(`[data-${name}]`);
  part('sentence').textContent = view?.sentence ?? empty;
  part('gap').textContent = view?.gap ?? '';
  part('gap').hidden = view?.gap === undefined;
  part('content').classList.toggle('unfilled', view === undefined);
  if (view === undefined) return;
  part('tiles')?.replaceChildren(...view.rows.map(tileOf));
  part('heads').replaceChildren(
    ...view.columns.map(({ head, kind }) => element('th', { scope: 'col', class: kind }, head)),
  );
  part('rows').replaceChildren(
    ...view.rows.map((row) =>
      element(
        'tr',
        {},
        ...row.map((cell, index) => element('td', { class: view.columns[index].kind }, contentOf(cell))),
      ),
    ),
  );
  if (part('plot') !== null) part('plot').hidden = view.drawing === undefined;
  part('legend')?.replaceChildren();
  if (view.drawing === undefined) return;
  part('legend').replaceChildren(...legendOf(view.drawing));
  drawChart(part('plot'), {
    ...view.drawing,
    description: [`${title}.`, view.sentence, view.gap, 'The figures are below.'].filter(Boolean).join(' '),
  });
}

function tileOf([name, value, note]) {
  return element(
    'div',
    {},
    element('dt', {}, name),
    element('dd', { class: 'tile-value' }, value),
    element('dd', { class: 'tile-note' }, note),
  );
}

function contentOf(cell) {
  return typeof cell === 'string' ? cell : element('span', { class: `pill pill-${cell.tone}` }, cell.words);
}

function legendOf({ series }) {
  const entries = new Map(series.map(({ color, legend, name }) => [color, legend ?? name]));
  return [...entries].map(([color, name]) =>
    element('li', {}, element('i', { class: `swatch swatch-${color}` }), name),
  );
}

function tellAges() {
  for (const time of document.querySelectorAll('[data-age] time')) {
    const minutes = Math.floor((Date.now() - Date.parse(time.dateTime)) / 60_000);
    time.textContent =
      minutes < 1
        ? 'just now'
        : `${minutes < 120 ? `${minutes} min` : minutes < 2_880 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1_440)} days`} ago`;
  }
}

function offerCopying() {
  for (const button of document.querySelectorAll('[data-copy]')) {
    // Browsers allow a page to copy only over https and on loopback.
    button.hidden = navigator.clipboard === undefined;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = 'Copied';
    });
  }
}

/** Opens the mart that a link points to. */
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target?.tagName !== 'DETAILS') return;
  target.open = true;
  target.scrollIntoView();
}
