/* global document, echarts, getComputedStyle, ResizeObserver, window */
// Draws one chart with ECharts, in the colors of the style sheet.

/** For axes only: exact amounts are not read from them. */
const compact = new Intl.NumberFormat('en-US', { notation: 'compact' });

// Used by dashboard.js, which is loaded after this script.
Object.assign(window, { drawChart, element });

/** `drawing` is as in view.ts; `description` is the text for screen readers. */
function drawChart(plot, drawing) {
  plot.style.height = drawing.kind === 'bars' ? `${Math.max(6, drawing.labels.length) * 21 + 40}px` : '';
  const instance = echarts.getInstanceByDom(plot) ?? openChart(plot);
  instance.resize();
  instance.setOption(optionOf(drawing, plot.clientWidth), { notMerge: true });
}

function openChart(plot) {
  const instance = echarts.init(plot, null, { renderer: 'svg' });
  new ResizeObserver(() => instance.resize()).observe(plot);
  return instance;
}

function optionOf(drawing, width) {
  const { kind, labels, description } = drawing;
  const narrow = width < 520;
  const soft = colorOf('soft');
  const text = { color: soft, fontSize: 12, fontFamily: getComputedStyle(document.body).fontFamily };
  const names = {
    type: 'category',
    data: labels,
    inverse: kind === 'bars',
    axisLabel: {
      ...text,
      ...(kind === 'bars'
        ? { width: narrow ? 144 : 168, overflow: 'truncate', interval: 0 }
        : { hideOverlap: true }),
    },
    axisTick: { show: false },
    axisLine: { lineStyle: { color: colorOf('line') } },
  };
  const amounts = {
    type: 'value',
    splitNumber: narrow ? 3 : 5,
    axisLabel: { ...text, formatter: (value) => compact.format(value), hideOverlap: true },
    splitLine: { lineStyle: { color: colorOf('line') } },
  };
  return {
    animation: false,
    aria: { enabled: true, label: { description } },
    grid: { left: 4, right: 20, top: 12, bottom: 4, containLabel: true },
    xAxis: kind === 'bars' ? amounts : names,
    // A line shows a level beside bars that show its changes, so it has its own axis, on the right.
    yAxis:
      kind === 'bars'
        ? names
        : [
            amounts,
            { ...amounts, scale: true, splitLine: { show: false }, show: drawing.series.some(isLine) },
          ],
    tooltip: {
      trigger: 'axis',
      axisPointer: { type: 'shadow', shadowStyle: { color: colorOf('accent'), opacity: 0.06 } },
      confine: true,
      backgroundColor: colorOf('surface'),
      borderColor: colorOf('line'),
      padding: 0,
      formatter: (points) => tooltipOf(drawing, points[0].dataIndex),
    },
    series: drawing.series.map((series) => seriesOf(series, kind)),
  };
}

function isLine({ shape }) {
  return shape === 'line';
}

function seriesOf({ name, color: named, shape, values }, kind) {
  // The only place where an amount becomes a number: the length of a bar. The text that is read stays exact.
  const data = values.map((value) => (value === null ? null : Number(value.replaceAll(',', ''))));
  const color = colorOf(`chart-${named}`);
  if (shape === 'line')
    return {
      name,
      data,
      type: 'line',
      yAxisIndex: 1,
      symbolSize: 6,
      color,
      lineStyle: { width: 2, color },
      z: 3,
    };
  return {
    name,
    data,
    type: 'bar',
    color,
    barMaxWidth: kind === 'bars' ? 14 : 30,
    ...(shape === 'stacked'
      ? { stack: 'all', barCategoryGap: '28%' }
      : { barGap: '10%', barCategoryGap: '30%' }),
    itemStyle: {
      borderColor: colorOf('surface'),
      borderWidth: shape === 'stacked' && named !== 'neutral' ? 0.5 : 0,
    },
  };
}

/** Shows the same text as the figures; values that are 0 or unknown are left out. */
function tooltipOf({ labels, series }, index) {
  const rows = series
    .filter(({ values }) => values[index] !== null && /[1-9]/.test(values[index]))
    .map(({ name, color, values }) =>
      element(
        'tr',
        {},
        element('td', {}, element('i', { class: `swatch swatch-${color}` }), name),
        element('td', { class: 'number' }, values[index]),
      ),
    );
  return element('div', { class: 'tip' }, element('b', {}, labels[index]), element('table', {}, ...rows));
}

function colorOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
