/** The page's script with what it imports, packed as `unpackText` reads it. */
declare const packed: string;
export default packed;
