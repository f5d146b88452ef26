import type { Page } from 'playwright-core';

export interface Shown {
  readonly sentence: string;
  /** The sentence about what the figures leave out. Empty if nothing. */
  readonly gap: string;
  readonly heads: string[];
  readonly rows: string[][];
  readonly series: { name: string; data: (number | null)[] }[];
}

/** Reads what a chart shows: its figures, and the data of its bars. */
export function shownBy(page: Page, id: string): Promise<Shown> {
  return page.evaluate<Shown>(`(() => {
    const section = document.getElementById(${JSON.stringify(id)});
    const texts = (root, selector) => [...root.querySelectorAll(selector)].map((one) => one.textContent);
    const plot = section.querySelector('[data-plot]');
    const chart = plot && !plot.hidden && echarts.getInstanceByDom(plot);
    const gap = section.querySelector('[data-gap]');
    const unfilled = section.querySelector('.unfilled') !== null;
    return {
      sentence: section.querySelector('[data-sentence]').textContent,
      gap: gap === null || gap.hidden ? '' : gap.textContent,
      heads: texts(section, '[data-heads] th'),
      rows: unfilled ? [] : [...section.querySelectorAll('[data-rows] tr')].map((row) => texts(row, 'td')),
      series: unfilled || !chart ? [] : chart.getOption().series.map(({ name, data }) => ({ name, data })),
    };
  })()`);
}
