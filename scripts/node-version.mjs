/**
 * Throws an error, with a sentence for people, if this Node version cannot run Daybook.
 *
 * @param {string} version as in process.versions.node
 */
export function checkNodeVersion(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Error(
    `Daybook needs Node 20.19 or newer (22 and 24 are fine); this is ${version}. Get one at https://nodejs.org.`,
  );
}
