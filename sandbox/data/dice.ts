/**
 * Returns a function from an index to a reproducible number from 0 to 2^32 - 1. Records are functions of their index and are not stored,
 * so chance must be a function too. Each question (`name`) has its own dice.
 */
export function dice(name: string): Dice {
  const salt = hashText(name);
  return (index) => mix(Math.imul(index + 1, 0x9e37_79b1) ^ salt);
}

/** Returns a 32-bit hash of a text (FNV-1a, then mixed). */
export function hashText(text: string): number {
  let hash = 0x811c_9dc5;
  for (let position = 0; position < text.length; position += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(position), 0x0100_0193);
  }
  return mix(hash);
}

/** The finalizer of MurmurHash3: every input bit affects every output bit. */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export type Dice = (index: number) => number;
