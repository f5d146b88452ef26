/**
 * For the `error` event of stdout or stderr. A terminal may be closed while the process has still to stop what it started: nobody reads
 * what is written there from then on. Everything else is thrown.
 */
export function unlessTerminalIsGone({ isTTY }: NodeJS.WriteStream): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!isTTY || error.code !== 'EIO') throw error;
  };
}
