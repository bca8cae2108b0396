package apk::options;

# The command line. Options stand anywhere before "--", those of a command only with it; each that is
# a switch has a counterpart with "no-". Options also come from the file that APK_CONFIG names.
use strict;
use exports qw(read_options);
use apk::messages;

# A word takes an argument; a switch may be turned off.
my %GLOBAL = (
    'allow-untrusted' => 'flag', 'cache-dir' => 'word', 'cache-max-age' => 'word', 'cache-predownload' => 'switch',
    'force-broken-world' => 'flag', 'force-missing-repositories' => 'flag',
    'force-no-chroot' => 'flag', 'force-overwrite' => 'flag', 'interactive' => 'switch',
    logfile => 'switch', network => 'switch', 'preserve-env' => 'switch', progress => 'switch',
    'keys-dir' => 'word', 'progress-fd' => 'word', purge => 'switch', quiet => 'flag', 'repositories-file' => 'word', root => 'word', sync => 'switch',
    timeout => 'word', 'update-cache' => 'flag', verbose => 'count', version => 'flag', wait => 'word',
);
my %GLOBAL_LETTER = (f => '', h => '', i => 'interactive', p => 'root', q => 'quiet', U => 'update-cache',
    v => 'verbose', V => 'version', X => '');

my %COMMIT = ('clean-protected' => 'switch', 'commit-hooks' => 'switch', scripts => 'switch', simulate => 'switch');
my %OPTION = (
    add => { %COMMIT, upgrade => 'flag', virtual => 'word' },
    del => { %COMMIT, rdepends => 'flag' },
    fix => { %COMMIT, reinstall => 'flag' },
    upgrade => { %COMMIT, available => 'flag' },
    query => {
        'all-matches' => 'flag', available => 'flag', fields => 'word', format => 'word', from => 'word',
        installed => 'flag', match => 'word', recursive => 'flag', upgradable => 'flag', world => 'flag',
    },
    fetch => {
        output => 'word', 'pkgname-spec' => 'word', recursive => 'flag', simulate => 'switch', url => 'flag',
    },
    list => { manifest => 'flag', installed => 'flag', upgradable => 'flag', available => 'flag' },
    info => { exists => 'flag', contents => 'flag', 'who-owns' => 'flag' },
    audit => { system => 'flag', packages => 'flag', full => 'flag' },
    version => { test => 'flag', check => 'flag' },
    cache => {}, update => {}, verify => {},
);
my %LETTER = (
    add => { s => 'simulate', u => 'upgrade', t => 'virtual', l => '' },
    del => { s => 'simulate', r => 'rdepends' },
    fix => { s => 'simulate', r => 'reinstall', d => '', u => '', x => '' },
    upgrade => { s => 'simulate', a => 'available', l => '' },
    query => { F => 'fields', R => 'recursive' },
    fetch => { o => 'output', R => 'recursive', l => '', s => '', F => '' },
    list => { I => 'installed', u => 'upgradable', a => 'available', d => '', o => '', O => '', P => '' },
    info => { e => 'exists', L => 'contents', W => 'who-owns', map { $_ => '' } qw(a d P r R s t w) },
    version => { t => 'test', c => 'check', a => '', I => '', l => '' },
    cache => { s => '' }, update => {}, verify => {}, audit => { r => '' },
);
# What the real program knows besides.
my %REFUSED = map { $_ => 1 } qw(
    arch cache cache-packages check-certificate force force-binary-stdout force-non-repository
    force-old-apk force-refresh help legacy-info pretty-print preupgrade-depends print-arch
    repository repository-config root-tmpfs uvol-manager initramfs-diskless-boot
    overlay-from-stdin initdb latest no-chown usermode depends directory-permissions xattr ignore preupgrade
    preupgrade-only prune self-upgrade self-upgrade-only search summarize orphaned origin providers
    upgradeable built-after link stdout);

my %FIELD = map { $_ => 1 } qw(
    all package name version description arch license origin maintainer url build-time installed-size
    file-size provider-priority depends provides install-if repositories download-url reverse-depends
    reverse-install-if contents triggers scripts replaces status);

sub read_options {
    my ($commands, @words) = @_;
    my $command = find_command($commands, @words);
    my $run = { root => '', command => $command };
    read_config($run);
    my @arguments;
    my $is_over = 0;
    my $is_pending = defined $run->{command};
    while (@words) {
        my $word = shift @words;
        if ($is_over || $word !~ /^-./) {
            if ($is_pending && $word eq $run->{command}) { $is_pending = 0 }
            elsif (length $word || ($run->{command} // '') eq 'version') { push @arguments, $word }
        }
        elsif ($word eq '--') { $is_over = 1 }
        elsif ($word =~ /^--([^=]*)(?:=(.*))?\z/s) { set_option($run, $1, $2, \@words) }
        else { set_letters($run, substr($word, 1), \@words) }
    }
    if ($run->{version} && !$run->{command}) { print "apk-tools 3.0.5, compiled for x86_64.\n"; finish(0) }
    if (!defined $run->{command}) {
        usage_failure("'$arguments[0]' is not an apk command. See 'apk --help'.") if @arguments;
        usage_failure('This apk-tools has been built without help');
    }
    set_quiet(1) if $run->{quiet};
    $run->{root} =~ s{/+\z}{};
    $run->{words} = [@ARGV];
    return ($run, $run->{command}, @arguments);
}

# The first word that names a command is the command, even one that is meant for an option.
sub find_command {
    my ($commands, @words) = @_;
    my %known = map { $_ => 1 } @$commands;
    for my $word (@words) {
        last if $word eq '--';
        return $word if $known{$word};
    }
    return;
}

sub set_letters {
    my ($run, $letters, $words) = @_;
    while (length $letters) {
        my $letter = substr($letters, 0, 1, '');
        my %table = (%GLOBAL_LETTER, %{ $LETTER{ $run->{command} // '' } // {} });
        my $name = $table{$letter} // usage_failure("command line: unrecognized option '$letter'");
        not_acted_out("-$letter") if $name eq '';
        my $kind = kind_of($run, $name);
        if ($kind ne 'word') { set_value($run, $name, 1); next }
        my $value = length $letters ? $letters : shift @$words;
        defined $value or usage_failure("command line: option '$letter' expects an argument");
        return set_value($run, $name, $value);
    }
}

sub set_option {
    my ($run, $name, $value, $words) = @_;
    my $kind = kind_of($run, $name);
    my $is_off = !$kind && $name =~ s/^no-// && ($kind = kind_of($run, $name)) ne '';
    if ($is_off && $kind ne 'switch' || !$kind) {
        not_acted_out("--$name") if $REFUSED{$name};
        usage_failure("command line: unrecognized option '" . ($is_off ? 'no-' : '') . "$name'");
    }
    if ($kind eq 'word') {
        $value //= shift @$words;
        defined $value or usage_failure("command line: option '$name' expects an argument");
        return set_value($run, $name, $value);
    }
    if (defined $value && $kind ne 'switch') {
        usage_failure("command line: option '$name' does not expect argument (got '$value')");
    }
    my $is_on = defined $value ? $value =~ /^(?:yes|1)\z/ : !$is_off;
    set_value($run, $name, $is_on ? 1 : 0);
}

sub kind_of {
    my ($run, $name) = @_;
    my $own = defined $run->{command} ? $OPTION{ $run->{command} }{$name} : undef;
    return $own // $GLOBAL{$name} // '';
}

# Names that mean something else, too, in what the run knows.
my %KEY = map { $_ => "only_$_" } qw(installed available upgradable packages world);

sub set_value {
    my ($run, $name, $value) = @_;
    if ($name eq 'fields' && grep { !$FIELD{$_} } split /,/, $value) {
        usage_failure("command line: invalid argument for option 'fields': '$value'");
    }
    my $key = $KEY{$name} // $name =~ tr/-/_/r;
    $run->{$key} = kind_of($run, $name) eq 'count' ? ($run->{$key} // 0) + 1 : $value;
}

sub read_config {
    my ($run) = @_;
    open(my $file, '<', $ENV{APK_CONFIG} // '/etc/apk/config') or return;
    while (my $line = <$file>) {
        $line =~ s/#.*//;
        my ($name, $value) = $line =~ /^\s*(\S+)(?:\s+(\S+))?/ or next;
        if (kind_of($run, $name =~ s/^no-//r)) { set_option($run, $name, $value, []) }
        elsif (!$REFUSED{$name}) { warning("config: unrecognized option '$name'") }
    }
}

sub usage_failure {
    failure($_[0]);
    finish(1);
}

1;
