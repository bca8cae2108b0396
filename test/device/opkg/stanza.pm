package opkg::stanza;

# Packages as text: the stanzas of a feed's index, of a control file and of the status file, read and written.
# Recommends, Suggests and Alternatives are not acted out: no package here carries them.
use strict;
use exports qw(read_stanza write_status_stanza write_info_stanza dependency_text flag_bits $FLAG);
use opkg::messages;
use opkg::version;

our $FLAG = { hold => 2, replace => 4, noprune => 8, prefer => 16, obsolete => 32, marked => 64, list_changed => 128, user => 256, needed => 512 };
my @LASTING_FLAGS = qw(hold noprune prefer obsolete user);
my @READABLE_FLAGS = ([reinstreq => 1], map { [$_ => $FLAG->{$_}] } qw(hold replace noprune prefer obsolete user));

my %TEXT_FIELD = map { $_ => lc } qw(ABIVersion Filename Maintainer Priority Section Source Tags);
my %READ = (
    Depends => sub { $_[0]{depends} = [@{ $_[0]{depends} // [] }, read_dependencies($_[1])] },
    Conflicts => sub { $_[0]{conflicts} = [@{ $_[0]{conflicts} // [] }, read_dependencies($_[1])] },
    Provides => sub { push @{ $_[0]{provides} }, split /[, ]+/, $_[1] =~ s/^[, ]+//r },
    Replaces => sub { $_[0]{replaces} = [split /[, ]+/, $_[1] =~ s/^[, ]+//r] },
    Version => sub { $_[0]{version} = read_version($_[1]) },
    Architecture => sub { $_[0]{architecture} = $_[1] },
    Status => \&read_status,
    Essential => sub { $_[0]{essential} = $_[1] eq 'yes' },
    'Auto-Installed' => sub { $_[0]{auto_installed} = $_[1] eq 'yes' },
    # Kept in a C int: sizes from 2 GiB to 4 GiB turn negative and larger ones wrap.
    'Installed-Size' => sub { $_[0]{installed_size} = unpack 'l', pack 'l', to_number($_[1]) },
    'Installed-Time' => sub { $_[0]{installed_time} = to_number($_[1]) },
    Size => sub { $_[0]{size} = unpack 'l', pack 'l', to_number($_[1]) },
    SHA256sum => sub { $_[0]{sha256} = lc $_[1] if $_[1] =~ /^[0-9a-f]{64}$/i },
    MD5Sum => sub { $_[0]{md5} = lc $_[1] if $_[1] =~ /^[0-9a-f]{32}$/i },
    MD5sum => sub { $_[0]{md5} = lc $_[1] if $_[1] =~ /^[0-9a-f]{32}$/i },
);

# Lines are taken from the front of the list up to the end of one stanza. Returns a package, or nothing when those
# lines had no name in them. The hooks hear of a name when it is read and of each field that names other packages.
sub read_stanza {
    my ($lines, $hooks) = @_;
    my $package = { state => 'not-installed', want => 'unknown', flags => 0, provides => [], version => read_version('') };
    my $block = '';
    while (defined(my $line = shift @$lines)) {
        if ($line !~ s/\n\z//) { failure('parse_from_stream_nomalloc', 'Missing new line character at end of file!') }
        last if $line =~ /^\s*$/;
        if ($line =~ /^ /) { read_continuation($package, $block, $line); next }
        my ($field, $value) = $line =~ /^([A-Za-z0-9-]+):\s*(.*?)\s*$/ or next;
        $block = $field;
        if ($field eq 'Package') { $package->{name} = $value; $hooks->{name}->($package) if $hooks->{name} }
        if ($field eq 'Conffiles') { $package->{conffiles} = [] }
        if ($field eq 'Description') { $package->{description} = $value }
        if (length $value && $TEXT_FIELD{$field}) { $package->{ $TEXT_FIELD{$field} } = $value }
        if ($READ{$field}) { $READ{$field}->($package, $value); $hooks->{$field}->($package) if $hooks->{$field} }
    }
    return defined $package->{name} ? $package : undef;
}

sub read_continuation {
    my ($package, $block, $line) = @_;
    if ($block eq 'Description') { $package->{description} .= (-t STDOUT ? "\n" : '') . $line =~ s/\s+$//r }
    if ($block eq 'Conffiles' && $line =~ /^\s*(\S+)\s+(\S+)/) { push @{ $package->{conffiles} }, [$1, $2] }
}

sub read_status {
    my ($package, $value) = @_;
    my ($want, $flags, $state) = split ' ', $value;
    if (!defined $state) { return failure('parse_status', "Failed to parse Status line for $package->{name}") }
    $package->{want} = $want;
    $package->{flags} |= flag_bits($flags);
    $package->{state} = $state;
}

sub flag_bits {
    my ($text) = @_;
    my $bits = 0;
    for my $word (split /,/, $text) { $bits |= $_->[1] for grep { $_->[0] eq $word } @READABLE_FLAGS }
    return $bits;
}

sub to_number { $_[0] =~ /^(\d+)/ ? $1 : 0 }

# Each dependency is a list of possibilities: a name, and perhaps a relation with a version.
sub read_dependencies {
    my ($text) = @_;
    return map { [map { read_possibility($_) } split /\|/] } grep { /\S/ } split /,/, $text;
}

sub read_possibility {
    my ($name, $relation, $version) = $_[0] =~ /^\s*(\S+)\s*(?:\(\s*(<<|<=|>=|>>|=|<|>)?\s*([^)\s]*)\s*\))?/;
    return { name => $name } if !defined $relation;
    my $meaning = { '<' => '<=', '>' => '>=' }->{$relation} // $relation;
    return { name => $name, relation => $meaning, version => $version };
}

# Earlier and later are written with one sign, which the next reader takes for "or equal".
sub dependency_text {
    my ($possibilities) = @_;
    my %sign = ('<<' => '<', '>>' => '>');
    return join ' | ', map {
        defined $_->{relation} ? "$_->{name} (" . ($sign{ $_->{relation} } // $_->{relation}) . " $_->{version})" : $_->{name}
    } @$possibilities;
}

sub write_status_stanza {
    my ($package) = @_;
    return write_fields($package, qw(
        Package ABIVersion Version Depends Provides Replaces Conflicts Status Essential Architecture Conffiles Installed-Time
        Auto-Installed));
}

sub write_info_stanza {
    my ($package) = @_;
    return write_fields($package, qw(
        Package Version Depends Provides Replaces Conflicts Status Section Essential Architecture Maintainer MD5Sum Size
        Filename Conffiles Source Description Installed-Time Tags));
}

my %WRITE = (
    Package => sub { $_[0]{name} },
    Version => sub { version_text($_[0]{version}) },
    Depends => sub { $_[0]{depends} && join ', ', map { dependency_text($_) } @{ $_[0]{depends} } },
    Provides => sub { join ', ', grep { $_ ne $_[0]{name} } @{ $_[0]{provides} } },
    Replaces => sub { $_[0]{replaces} && join ', ', @{ $_[0]{replaces} } },
    Conflicts => sub { $_[0]{conflicts} && join ', ', map { dependency_text([$_->[0]]) } @{ $_[0]{conflicts} } },
    Status => sub { join ' ', $_[0]{want}, flags_text($_[0]{flags}), $_[0]{state} },
    Essential => sub { $_[0]{essential} ? 'yes' : undef },
    'Auto-Installed' => sub { $_[0]{auto_installed} ? 'yes' : undef },
    'Installed-Time' => sub { $_[0]{installed_time} || undef },
    Size => sub { $_[0]{size} || undef },
    MD5Sum => sub { $_[0]{md5} },
    Architecture => sub { $_[0]{architecture} },
    Description => sub { $_[0]{description} },
);

sub write_fields {
    my ($package, @fields) = @_;
    my $text = '';
    for my $field (@fields) {
        if ($field eq 'Conffiles') { $text .= conffiles_text($package); next }
        my $value = $WRITE{$field} ? $WRITE{$field}->($package) : $package->{ $TEXT_FIELD{$field} };
        $text .= "$field: $value\n" if defined $value && length $value;
    }
    return "$text\n";
}

sub conffiles_text {
    my ($package) = @_;
    return '' if !$package->{conffiles} || !@{ $package->{conffiles} };
    return "Conffiles:\n" . join '', map { " $_->[0] $_->[1]\n" } grep { defined $_->[1] } @{ $package->{conffiles} };
}

sub flags_text {
    my ($bits) = @_;
    return join(',', grep { $bits & $FLAG->{$_} } @LASTING_FLAGS) || 'ok';
}

1;
