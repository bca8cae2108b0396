/** The build turns these files into text: they run beside the daemon, in a shell or in Node. */
declare module '*.sh' {
  const text: string;
  export default text;
}

declare module '*.script.cjs' {
  const text: string;
  export default text;
}
