import type { View } from './view.ts';

/** Removes a drawing along time that has at most one point, since it shows no course. A sentence says so, and the figures stay. */
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
