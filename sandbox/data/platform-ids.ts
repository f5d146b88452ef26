/** Platform IDs of one resource: short numbers, like those of most platforms. */
export const platformIds = {
  at: (index: number): string => (firstNumber + index).toString(),
  indexOf(platformId: string): number | null {
    if (!/^[1-9]\d{3,9}$/.test(platformId)) return null;
    const index = Number(platformId) - firstNumber;
    return index >= 0 ? index : null;
  },
};

const firstNumber = 1001;
