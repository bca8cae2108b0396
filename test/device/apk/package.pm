package apk::package;

# A package as indexes, the database and package files describe it: lines of a letter, a colon and a
# value.
use strict;
use exports qw(add_line header_text read_package open_package provided_names needs label);
use apk::archive;
use apk::dependency;
use compiled 'Digest::SHA';
use later 'apk::signature' => 'signature_fault';

my %TEXT = (C => 'identity', P => 'name', V => 'version', A => 'architecture', T => 'description', U => 'url',
    L => 'licence', o => 'origin', m => 'maintainer', c => 'commit');
my %NUMBER = (S => 'size', I => 'installed_size', t => 'build_time', k => 'priority');
my %DEPENDENCIES = (D => 'depends', p => 'provides', i => 'install_if');
my @ORDER = qw(C P V A S I T U L o m t c k D p i);

# False if the letter is none of these.
sub add_line {
    my ($package, $letter, $value) = @_;
    if (my $field = $TEXT{$letter} // $NUMBER{$letter}) { $package->{$field} = $value; return 1 }
    my $field = $DEPENDENCIES{$letter} or return 0;
    push @{ $package->{$field} }, @{ parse_dependencies($value) // [] };
    return 1;
}

my %ALWAYS = map { $_ => 1 } qw(C P V S I T U L);

sub header_text {
    my ($package) = @_;
    my $text = '';
    for my $letter (@ORDER) {
        my $value = $DEPENDENCIES{$letter}
            ? dependencies_text($package->{ $DEPENDENCIES{$letter} } // [])
            : $package->{ $TEXT{$letter} // $NUMBER{$letter} } // ($NUMBER{$letter} ? 0 : '');
        $text .= "$letter:$value\n" if $ALWAYS{$letter} || length $value && $value ne '0';
    }
    return $text;
}

sub label { return "$_[0]{name}-$_[0]{version}" }

# Its dependencies but for what it conflicts with.
sub needs { return grep { !$_->{conflict} } @{ $_[0]{depends} // [] } }

# What the package satisfies: [name, version]; a name without a version is a virtual one.
sub provided_names {
    my ($package) = @_;
    my @names = ([$package->{name}, $package->{version}]);
    for my $provided (@{ $package->{provides} // [] }) {
        push @names, [$provided->{name}, $provided->{operator} eq '=' ? $provided->{version} : undef];
    }
    return @names;
}

my %INFO = (pkgname => 'P', pkgver => 'V', pkgdesc => 'T', url => 'U', size => 'I', license => 'L', arch => 'A',
    depend => 'D', install_if => 'i', provides => 'p', origin => 'o', maintainer => 'm', builddate => 't',
    commit => 'c', provider_priority => 'k');

# The package that a file holds, or what is wrong with the file, its second half left unread.
sub read_package {
    my ($bytes, $run) = @_;
    my ($opened, $error) = open_package($bytes);
    return (undef, $error) if $error;
    my $fault = signature_fault($run, $opened->{signature}, $opened->{signed}) // '';
    my $is_passed = $fault eq '' || $fault eq 'UNTRUSTED signature' && $run->{allow_untrusted};
    return (undef, $fault) if !$is_passed;
    my $package = { size => length $bytes, identity => $opened->{identity} };
    for my $line (@{ $opened->{info} }) {
        my ($key, $value) = $line =~ /\A(\S+) = (.*)\z/ or next;
        add_line($package, $INFO{$key}, $value) if $INFO{$key};
    }
    return (undef, 'v2 package format error') if !defined $package->{name} || !defined $package->{version};
    return ($package, undef);
}

# Both halves: { identity, info, scripts, data, data_error, signature, signed }. The second is checked against the
# first, and the first against nothing: `signature` is of the bytes `signed`, if there is one.
sub open_package {
    my ($bytes) = @_;
    my ($streams, $error) = gzip_streams($bytes);
    return (undef, $error) if !@$streams;
    my ($signature) = grep { $_->{name} =~ /^\.SIGN\./ } @{ (read_tar($streams->[0]{content}))[0] };
    shift @$streams if $signature;
    my ($control) = @$streams;
    return (undef, $error // 'v2 package format error') if !$control;
    my ($entries, $tar_error) = read_tar($control->{content});
    my ($information) = grep { $_->{name} eq '.PKGINFO' } @$entries;
    return (undef, $tar_error // 'v2 package format error') if !$information;
    my @info = split /\n/, $information->{content};
    my ($datahash) = map { /^datahash = (\S+)/ ? $1 : () } @info;
    my $data = $streams->[1];
    my $is_good = $data && ($datahash // '') eq Digest::SHA::sha256_hex($data->{packed});
    my $data_error = ($error // '') eq $BAD_FORMAT ? $error : $is_good ? undef : 'v2 package integrity error';
    return {
        identity => 'Q1' . Digest::SHA::sha1_base64($control->{packed}) . '=',
        info => \@info,
        scripts => { map { $_->{name} =~ /^\.((?:pre|post)-\w+|trigger)\z/ ? ($1 => $_->{content}) : () } @$entries },
        data => $data ? (read_tar($data->{content}))[0] : [],
        data_error => $data_error,
        signature => $signature,
        signed => $control->{packed},
    };
}

1;
