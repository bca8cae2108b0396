export const PAGE = '<!doctype html><title>depotd</title>';
