package apk::download;

# Files of feeds, by wget, whose exit code is told before what apk makes of the answer.
use strict;
use exports qw(download open_download);
use apk::archive;
use apk::catalogue;
use apk::messages;
use apk::package;
use later 'apk::package_file' => 'open_package';

my $NETWORK_FAILURE = 4;

# The bytes, or what is wrong and the bytes that came.
sub download {
    my ($run, $url) = @_;
    if ($url !~ m{^\w+://} || $url =~ s{^file://}{}) {
        open(my $file, '<:raw', $url) or return (undef, "$!");
        local $/;
        return (scalar(<$file>) // '', undef);
    }
    return (undef, 'No such file or directory') if !grep { -x "$_/wget" } split /:/, $ENV{PATH} // '';
    my $child = open(my $output, '-|') // return (undef, "$!");
    if (!$child) {
        exec 'wget', '-q', '-T', $run->{timeout} // 60, $url, '-O', '-';
        exit 127;
    }
    binmode $output;
    my $bytes = do { local $/; <$output> } // '';
    close $output;
    return ($bytes, undef) if $? == 0;
    failure($? & 127 ? 'wget: killed by signal ' . ($? & 127) : 'wget: exited with error ' . ($? >> 8));
    my $code = $? >> 8;
    return (undef, $SHORT, $bytes, $code == $NETWORK_FAILURE ? 'Network is unreachable' : undef);
}

# A package as open_package tells it, what is wrong, and its bytes. Where the first half has come, the
# reason why the second has not is told.
sub open_download {
    my ($run, $package) = @_;
    my ($bytes, $error, $part, $reason) = package_bytes($run, $package);
    my ($opened, $fault) = open_package($bytes // $part // '');
    if ($opened && defined $error && defined $reason) { $opened->{data_error} = $reason; undef $error }
    return ($opened, $error // $fault, $bytes);
}

# Of a package: from its own file, from the cache, or from the first feed that has it.
sub package_bytes {
    my ($run, $package) = @_;
    return download($run, $package->{file}) if defined $package->{file};
    return download($run, $package->{cached}) if defined $package->{cached};
    my ($feed) = grep { $_->{is_reachable} } feeds_of($run, $package);
    return (undef, 'package mentioned in index not found (try \'apk update\')') if !$feed;
    return download($run, ($feed->{url} =~ s{[^/]*\z}{}r) . "$package->{name}-$package->{version}.apk");
}

1;
