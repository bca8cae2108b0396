package opkg::download;

# Getting index files and packages, and checking what came.
use strict;
use exports qw(download download_package is_intact copy_file is_signed);
use opkg::files;
use opkg::messages;
use later 'opkg::process' => 'run_program';

my $NO_NETWORK = 4;

# Returns true when the file has arrived.
sub download {
    my ($run, $url, $target) = @_;
    notice("Downloading $url\n");
    if ($url =~ s/^file://) { return copy_file($url =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger, $target) }
    my $arrived = "$run->{tmp_dir}/" . $url =~ s{.*/}{}sr;
    unlink $arrived;
    $ENV{$_} = $run->{$_} for grep { defined $run->{$_} } qw(http_proxy https_proxy ftp_proxy no_proxy);
    require opkg::http;
    my $code = opkg::http::fetch($url, $arrived, $run->{http_timeout});
    if ($code) {
        failure('opkg_download', "Failed to download $url, wget returned $code.");
        failure('opkg_download', "Check your network settings and connectivity.\n") if $code == $NO_NETWORK;
        return 0;
    }
    return 1 if rename $arrived, $target;
    return copy_file($arrived, $target) && unlink $arrived;
}

sub copy_file {
    my ($source, $target) = @_;
    if (!open(my $input, '<:raw', $source)) {
        system_failure('copy_file', $source);
    } elsif (!open(my $output, '>:raw', $target)) {
        system_failure('copy_file', "unable to open `$target'");
    } else {
        local $/;
        my @status = stat $input;
        print $output scalar <$input>;
        close $output;
        chmod $status[2] & 07777, $target;
        chown @status[4, 5], $target;
        utime @status[8, 9], $target;
        return 1;
    }
    failure('file_copy', "Failed to copy file $source to $target.");
    return 0;
}

# Into the given folder; the package then knows its file.
sub download_package {
    my ($run, $package, $folder) = @_;
    my $name = $package->{name};
    if (!$package->{origin}) { failure('opkg_download_pkg', "Package $name is not available from any configured src."); return 0 }
    if (!defined $package->{filename}) { failure('opkg_download_pkg', "Package $name does not have a valid filename field."); return 0 }
    my $url = "$package->{origin}{url}/" . $package->{filename} =~ s/([:?#\[\]@!\$&'()*+,;=%])/sprintf '%%%02x', ord $1/ger;
    my $file = $package->{filename} =~ s{.*(?=/)}{}sr;
    $package->{local_file} = "$folder/$file";
    return download_through_cache($run, $url, $package);
}

sub download_through_cache {
    my ($run, $url, $package) = @_;
    return download($run, $url, $package->{local_file}) if !defined $run->{cache} || $url =~ /^file:/;
    if (!-d $run->{cache}) { failure('opkg_download_cache', "$run->{cache} is not a directory."); return 0 }
    my $cached = "$run->{cache}/" . $package->{local_file} =~ s{.*/}{}sr;
    if (-e $cached && !is_intact($package, $cached)) {
        notice("Removing $package->{name} from cache because it has incorrect checksum.\n");
        unlink $cached;
    }
    if (-e $cached) {
        notice("Copying $cached.\n");
    } elsif (!download($run, $url, $cached)) {
        unlink $cached;
        return 0;
    }
    return copy_file($cached, $package->{local_file});
}

sub is_intact {
    my ($package, $path) = @_;
    my $size = -s $path;
    if (!defined $size) { failure('opkg_verify_integrity', "Failed to stat $path: $!"); return 0 }
    return 0 if ($package->{size} // 0) > 0 && $size != $package->{size};
    return 0 if $package->{md5} && checksum_of('md5sum', $path) ne $package->{md5};
    return !$package->{sha256} || checksum_of('sha256sum', $path) eq $package->{sha256};
}

sub is_signed {
    my ($run, $list) = @_;
    return run_program($run->{verify_program}, 'verify', "$list.sig", $list) == 0;
}

1;
