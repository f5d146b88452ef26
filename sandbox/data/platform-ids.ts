/** Returns the platform ID of a record: a short number, as on most platforms. */
export function platformIdAt(index: number): string {
  return (firstNumber + index).toString();
}

export function indexOfPlatformId(platformId: string): number | null {
  if (!/^[1-9]\d{3,9}$/.test(platformId)) return null;
  const index = Number(platformId) - firstNumber;
  return index >= 0 ? index : null;
}

const firstNumber = 1001;
