import type { Socket } from 'node:net';

/**
 * Closes a connection and discards the rest of the current packet. Its 64 KB can hold a thousand requests or ten thousand chunks of a
 * body, and Node would go on to process each of them. Node's types do not include the parser.
 */
export function cutOff(socket: Socket & { readonly parser?: { pause?: () => void } | null }): void {
  socket.destroy();
  socket.parser?.pause?.();
}
