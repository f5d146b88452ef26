/** Returns the address without parameters of these names. The others keep their spelling: libpq does not take a plus sign for a space. */
export function withoutParameters(url: URL, names: readonly string[]): URL {
  const plain = new URL(url);
  const parameters = url.search.slice(1).split('&');
  plain.search = parameters.filter((parameter) => !names.includes(parameterName(parameter))).join('&');
  return plain;
}

function parameterName(parameter: string): string {
  const [name = ''] = new URLSearchParams(parameter).keys();
  return name;
}
