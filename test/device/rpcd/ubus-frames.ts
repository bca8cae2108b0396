import { sizeIn, writeAttribute } from '../../../src/device/ubus/blob.ts';

/** A frame of ubus: struct ubus_msghdr and a blob. */
export interface Frame {
  type: number;
  sequence: number;
  peer: number;
  /** What is in the blob. */
  body: Buffer;
}

const HEADER_BYTES = 8;

export function frameOf(
  { type, sequence, peer }: Pick<Frame, 'type' | 'sequence' | 'peer'>,
  attributes: readonly Buffer[] = [],
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(type, 1);
  header.writeUInt16BE(sequence, 2);
  header.writeUInt32BE(peer, 4);
  return Buffer.concat([header, writeAttribute(0, Buffer.concat(attributes))]);
}

export function numberOf(value: number): Buffer {
  const data = Buffer.alloc(4);
  data.writeUInt32BE(value >>> 0);
  return data;
}

/** @returns what takes the pieces as they come */
export function createFrameReader(onFrame: (frame: Frame) => void): (piece: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    rest = Buffer.concat([rest, piece]);
    while (rest.length >= HEADER_BYTES + 4) {
      const end = HEADER_BYTES + sizeIn(rest.readUInt32BE(HEADER_BYTES));
      if (rest.length < end) return;
      onFrame({
        type: rest.readUInt8(1),
        sequence: rest.readUInt16BE(2),
        peer: rest.readUInt32BE(4),
        body: rest.subarray(HEADER_BYTES + 4, end),
      });
      rest = rest.subarray(end);
    }
  };
}
