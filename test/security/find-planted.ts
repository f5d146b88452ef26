import { spellingsOf } from './spellings.ts';

/** Somewhere that may be read by who must not know a secret. */
export interface Place {
  readonly name: string;
  readonly content: string | Buffer;
}

/** Which of what was planted is where, in whatever spelling: `database password in logs/temporal.log`. */
export function findPlanted(
  places: readonly Place[],
  planted: Readonly<Record<string, string | Buffer>>,
): string[] {
  const wanted = Object.entries(planted).map(([name, value]) => ({
    name,
    spellings: spellingsOf(Buffer.from(value)),
  }));
  return places.flatMap((place) => {
    const content = Buffer.from(place.content);
    return wanted
      .filter(({ spellings }) => spellings.some((spelling) => content.includes(spelling)))
      .map(({ name }) => `${name} in ${place.name}`);
  });
}
