import { encodeSecret } from './encode-secret.ts';

/** A place that may be read by people who must not learn a secret. */
export interface Place {
  readonly name: string;
  readonly content: string | Buffer;
}

/** Finds planted values in places, in any encoding: `database password in logs/temporal.log`. */
export function findPlanted(
  places: readonly Place[],
  planted: Readonly<Record<string, string | Buffer>>,
): string[] {
  const wanted = Object.entries(planted).map(([name, value]) => ({
    name,
    encodings: encodeSecret(Buffer.from(value)),
  }));
  return places.flatMap((place) => {
    const content = Buffer.from(place.content);
    return wanted
      .filter(({ encodings }) => encodings.some((encoding) => content.includes(encoding)))
      .map(({ name }) => `${name} in ${place.name}`);
  });
}
