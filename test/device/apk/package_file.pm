package apk::package_file;

# The file of a package, in two halves: what it is and its scripts, then its files.
use strict;
use exports qw(read_package open_package);
use apk::archive;
use apk::package;
use compiled 'Digest::SHA';
use later 'apk::signature' => 'signature_fault';

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
