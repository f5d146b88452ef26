/**
 * Returns at most one sentence about recurring revenue that is not known: `items` without a monthly price, in one month, or at most that many
 * in each of `months`. Their interval or status is unknown, or their amount was not sent or is too large.
 */
export function unpricedWords(items: number, months?: number): string[] {
  if (items <= 0) return [];
  const [are, them] = items === 1 ? ['subscription item has', 'it'] : ['subscription items have', 'them'];
  const when = months === undefined ? '' : `in ${months} of these months `;
  return [
    `${when}${months === undefined ? '' : 'up to '}${items.toLocaleString('en-US')} ${are} no monthly price that is known: revenue that needs ${them} is “not known”`,
  ];
}
