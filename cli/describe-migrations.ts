/** Describes applied migrations: by name if they are few, as after an upgrade. An empty warehouse takes all of them. */
export function describeMigrations(names: readonly string[]): string {
  if (names.length <= 3) return names.join(', ');
  return `${names.length} migrations, up to ${names.at(-1) ?? ''}`;
}
