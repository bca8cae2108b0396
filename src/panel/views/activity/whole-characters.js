/** Of bytes of UTF-8 so many that no character is cut (RFC 3629, section 3). */
export function wholeCharacters(bytes) {
  let lead = bytes.length - 1;
  while (lead >= 0 && lead > bytes.length - 4 && (bytes[lead] & 0xc0) === 0x80) lead -= 1;
  const first = bytes[lead];
  const size = [0xf0, 0xe0, 0xc0].findIndex((mark) => first >= mark);
  return size >= 0 && lead + 4 - size > bytes.length ? lead : bytes.length;
}
