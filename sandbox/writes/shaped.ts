import { joinElements, splitElements } from '../json/elements.ts';
import { joinMembers, splitMembers } from '../json/members.ts';

/** Gives an object exactly these members, with null for missing ones; their values stay as written. */
export function shaped(names: readonly string[]): (json: string) => string {
  return (json) => {
    const members = splitMembers(json);
    return joinMembers(new Map(names.map((name) => [name, members.get(name) ?? 'null'])));
  };
}

/** The same for each element of an array. */
export function shapedList(names: readonly string[]): (json: string) => string {
  const shape = shaped(names);
  return (json) => joinElements(splitElements(json).map(shape));
}
