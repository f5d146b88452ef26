import fc from 'fast-check';
import { changes, deliveryKinds, incidents, type Change } from './history.ts';

/** The values that each field of a change is chosen from. A field left out may have any value. */
export type ChangeConstraints = { readonly [Name in keyof Change]?: readonly NonNullable<Change[Name]>[] };

export function arbitraryChange(constraints: ChangeConstraints = {}): fc.Arbitrary<Change> {
  return fc.record({
    what: oneOf(constraints.what) ?? anyChange,
    which: oneOf(constraints.which) ?? fc.nat({ max: 999 }),
    count: oneOf(constraints.count) ?? anyCount,
    milliseconds: oneOf(constraints.milliseconds) ?? anyTime,
    webhook: oneOf(constraints.webhook) ?? fc.constantFrom(...deliveryKinds),
    company: oneOf(constraints.company) ?? anyCompany,
    minutes: oneOf(constraints.minutes) ?? anyMinutes,
  });
}

function oneOf<Value>(values: readonly Value[] | undefined): fc.Arbitrary<Value> | undefined {
  return values && fc.constantFrom(...values);
}

const anyChange = fc.oneof(
  {
    arbitrary: fc.constantFrom<Change['what'][]>('create', 'edit', 'touch', 'delete', 'recreate'),
    weight: 2,
  },
  { arbitrary: fc.constantFrom<Change['what'][]>('create late', 'delete unnoticed'), weight: 1 },
  { arbitrary: fc.constantFrom<Change['what'][]>(...incidents), weight: 1 },
  { arbitrary: fc.constantFrom(...changes), weight: 2 },
);

const anyCount = fc.oneof(
  { arbitrary: fc.integer({ min: 1, max: 4 }), weight: 20 },
  { arbitrary: fc.constant(70), weight: 1 },
);

/** Most changes happen to the first company. */
const anyCompany = fc.constantFrom(0, 0, 0, 1, 2);

const anyMinutes = fc.constantFrom(0, 0, 0.5, 5, 120, -120, 1_500);

const anyTime = fc.constantFrom(0, 0, 0, 1, 20, 3_000, 15_000, 700_000, 7_200_000);
