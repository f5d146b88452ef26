import type { View } from './view.ts';

/** Columns along time with one point show no course of anything: words say what there is, and the figures stay. */
export function withoutLonePoint<Shown extends View>(view: Shown): Shown {
  const { drawing, sentence, ...rest } = view;
  if (drawing?.kind !== 'columns') return view;
  const points = drawing.labels.filter((_, index) =>
    drawing.series.some(({ values }) => (values[index] ?? null) !== null),
  );
  if (points.length > 1) return view;
  const [only] = points;
  const words =
    only === undefined
      ? sentence
      : `${sentence} Only ${only} has figures, so there is no course to draw yet.`;
  return { ...rest, sentence: words } as Shown;
}
