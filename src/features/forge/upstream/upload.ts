import type { Socket } from 'node:net';
import type { RequestBody } from './call.ts';

export type Upload = ReturnType<typeof createUpload>;

interface UploadOptions {
  body: RequestBody;
  socket: Socket;
  /** Called whenever bytes of the upload went on. */
  moved: () => void;
}

/** The body of a request on its way to the forge, no faster than the forge takes it. */
export function createUpload({ body, socket, moved }: UploadOptions) {
  const { source, prefix, isChunked } = body;
  let isDone = false;

  const write = (piece: Buffer): boolean => {
    body.sentBytes += piece.length;
    if (!isChunked) return socket.write(piece);
    socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
    socket.write(piece);
    return socket.write('\r\n', 'latin1');
  };
  const pass = (piece: Buffer): void => {
    moved();
    if (!write(piece)) source.pause();
  };
  const drained = (): void => {
    moved();
    source.resume();
  };
  const ended = (): void => {
    if (isDone) return;
    isDone = true;
    if (isChunked) socket.write('0\r\n\r\n', 'latin1');
    stop();
  };
  /**
   * The answer is over or the connection gone: nothing more is written, and what the caller still
   * sends is thrown away.
   */
  const stop = (): void => {
    source.off('data', pass).off('end', ended);
    socket.off('drain', drained);
    // A caller whose body nobody reads would hang on a connection that it wants to use again.
    source.resume();
  };

  if (prefix !== undefined && prefix.length > 0) write(prefix);
  if (source.readableEnded) ended();
  else {
    source.on('data', pass).on('end', ended);
    socket.on('drain', drained);
    // The caller's request may have been paused by whoever read ahead.
    source.resume();
  }
  return {
    /** Whether the last byte has been written. */
    isDone: () => isDone,
    stop,
  };
}
