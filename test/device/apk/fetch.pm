package apk::fetch;

# `fetch`: package files into a folder, as if nothing were installed.
use strict;
use apk::database;
use apk::download;
use apk::messages;
use apk::package;
use apk::query;
use apk::repositories;

sub fetch {
    my ($run, @names) = @_;
    my $folder = $run->{output} // '.';
    my ($packages, $errors) = $run->{recursive} ? apk::query::solved($run, @names) : found($run, @names);
    return $errors if $errors;
    for my $package (apk::query::sorted(@$packages)) {
        my $path = "$folder/" . file_name($package, $run->{pkgname_spec} // '${name}-${version}.apk');
        next if -f $path && -s $path == $package->{size};
        message($run->{url} ? apk::query::download_url($run, $package) : 'Downloading ' . label($package));
        next if $run->{simulate};
        my $error = store($run, $package, $path);
        next if !defined $error;
        failure(label($package) . ": $error");
        $errors++;
    }
    return $errors;
}

sub found {
    my ($run, @names) = @_;
    my (@packages, $errors);
    for my $name (@names) {
        my @matching = $name =~ /[<>=~]/ ? () : apk::query::matching($run, $name);
        message(($name =~ s/[<>=~].*//r) . ": unable to select package (or its dependencies)") if !@matching && $name !~ /\*/;
        $errors++ if !@matching && $name !~ /\*/;
        push @packages, @matching;
    }
    return (\@packages, $errors // 0);
}

sub file_name {
    my ($package, $pattern) = @_;
    my %value = (name => $package->{name}, version => $package->{version}, arch => $package->{architecture});
    $pattern =~ s/\$\{hash:(\d+)\}/substr identity_hex($package), 0, $1/ge;
    return $pattern =~ s/\$\{(\w+)\}/$value{$1}/gr;
}

sub store {
    my ($run, $package, $path) = @_;
    my ($opened, $error, $bytes) = open_download($run, $package);
    return $error if defined $error;
    return 'v2 package integrity error' if $opened->{identity} ne $package->{identity};
    return $opened->{data_error} if defined $opened->{data_error};
    return store_file($path, $bytes) ? undef : "$!";
}

1;
