package opkg::options;

# The command line as glibc's getopt_long_only reads it: options may stand anywhere before "--", long names may have one
# dash and may be shortened as long as they stay unambiguous.
use strict;
use exports qw(read_options);
use opkg::messages;

my $VERSION = '38eccbb1fd694d4798ac1baf88f9ba83d1eac616 (2024-10-16)';
my %SHORT = (A => 0, d => 1, f => 1, i => 0, n => 0, o => 1, p => 1, l => 1, t => 1, v => 0, V => 2);
# In the order in which an ambiguous name lists them; what follows "=" is the option's other name.
my @LONG = qw(
    query-all=A autoremove cache conf-file=f conf=f dest=d force-maintainer force_maintainer force-depends force_depends
    force-overwrite force_overwrite force_downgrade force-downgrade force-reinstall force_reinstall force-space force_space
    recursive=force-removal-of-dependent-packages force-removal-of-dependent-packages force_removal_of_dependent_packages
    force-removal-of-essential-packages force_removal_of_essential_packages force-postinstall force_postinstall
    force-remove force_remove force-checksum force_checksum force-signature force_signature no-check-certificate
    no_check_certificate noaction download-only nodeps nocase=i offline=o offline-root=o add-arch add-dest size strip-abi
    strip_abi test=noaction tmp-dir=t tmp_dir=t lists-dir=l lists_dir=l verbosity=V verify-program verify_program version=v);
my %ARGUMENT = (cache => 1, 'add-arch' => 1, 'add-dest' => 1, 'verify-program' => 1);
my %SETTING = (A => 'query_all', d => 'dest', f => 'conf_file', i => 'nocase', o => 'offline_root', t => 'tmp_dir', l => 'lists_dir');
my (@names, %meaning);
for (@LONG) {
    my ($name, $other) = split /=/;
    push @names, $name;
    $meaning{$name} = $other // $name =~ tr/_/-/r;
}

# Returns the settings, the words that are not options, and whether something could not be understood.
sub read_options {
    my ($program, @words) = @_;
    my $state = { program => $program, words => \@words, settings => { architectures => [], destinations => [] }, failed => 0 };
    my @rest;
    while (@words) {
        my $word = shift @words;
        if ($word eq '--') { push @rest, @words; last }
        if ($word !~ /^-./s) { push @rest, $word; next }
        read_word($state, $word);
    }
    return ($state->{settings}, \@rest, $state->{failed});
}

sub read_word {
    my ($state, $word) = @_;
    my ($dashes, $body) = $word =~ /^(--?)(.*)$/s;
    my $short = exists $SHORT{substr($body, 0, 1)};
    if ($dashes eq '-' && length $body == 1 && $short) { return read_cluster($state, $body) }
    my ($name, $value) = $body =~ /^([^=]*)(?:=(.*))?$/s;
    my @candidates = exists $meaning{$name} ? $name : grep { index($_, $name) == 0 } @names;
    if (@candidates == 1) { return read_long($state, "$dashes$candidates[0]", $value) }
    if (@candidates) {
        return complain($state, "option '$word' is ambiguous; possibilities:" . join '', map { " '$dashes$_'" } @candidates);
    }
    return read_cluster($state, $body) if $dashes eq '-' && $short;
    complain($state, "unrecognized option '$dashes$name'");
}

sub read_long {
    my ($state, $option, $value) = @_;
    my $meaning = $meaning{$option =~ s/^--?//r};
    my $kind = $SHORT{$meaning} // $ARGUMENT{$meaning} // 0;
    if ($kind == 0 && defined $value) { return complain($state, "option '$option' doesn't allow an argument") }
    if ($kind == 1 && !defined $value) {
        return complain($state, "option '$option' requires an argument") if !@{ $state->{words} };
        $value = shift @{ $state->{words} };
    }
    apply($state, $meaning, $value);
}

sub read_cluster {
    my ($state, $letters) = @_;
    while (length $letters) {
        my $letter = substr($letters, 0, 1, '');
        if (!exists $SHORT{$letter}) { complain($state, "invalid option -- '$letter'"); next }
        if ($SHORT{$letter} == 0) { apply($state, $letter); next }
        my $value = length $letters ? $letters : undef;
        if ($SHORT{$letter} == 1 && !defined $value) {
            return complain($state, "option requires an argument -- '$letter'") if !@{ $state->{words} };
            $value = shift @{ $state->{words} };
        }
        return apply($state, $letter, $value);
    }
}

sub complain {
    my ($state, $text) = @_;
    print STDERR "$state->{program}: $text\n";
    $state->{failed} = 1;
}

sub apply {
    my ($state, $meaning, $value) = @_;
    my $settings = $state->{settings};
    if ($meaning eq 'v') {
        say_text("opkg version $VERSION\n");
        finish(0);
    }
    # Two letters are accepted without a meaning.
    if ($meaning eq 'n' || $meaning eq 'p') { return say_text('Confusion: getopt_long returned ' . ord($meaning) . "\n") }
    if ($meaning eq 'V') { return set_verbosity(defined $value ? int($value =~ /^\s*([-+]?\d+)/ ? $1 : 0) : 2) }
    if ($meaning =~ /^add-(arch|dest)$/) {
        my $list = $1 eq 'arch' ? 'architectures' : 'destinations';
        push @{ $settings->{$list} }, [$1, $2] if $value =~ /^([^:]+):(.+)$/s;
        return;
    }
    $settings->{ $SETTING{$meaning} // $meaning =~ tr/-/_/r } = $value // 1;
}

1;
