package apk::install;

# One package of a plan: unpacked beside what is there, then renamed into place; then what the old
# version had and the new one has not goes. A failing script stops nothing.
use strict;
use exports qw(install_change);
use apk::dependency;
use apk::files;
use apk::messages;
use apk::package;
use apk::repositories;
use apk::script;
use compiled qw(Digest::SHA MIME::Base64);
use later 'apk::download' => 'open_download';

# Whether all went well.
sub install_change {
    my ($run, $change) = @_;
    my ($old, $new) = @$change{qw(old new)};
    return purge($run, $old) if !$new;
    my @arguments = $old ? ($new->{version}, $old->{version}) : ($new->{version});
    my $job = { run => $run, package => $new, old => $old, is_new => !$old, arguments => \@arguments,
        record => { flags => {}, folders => [], scripts => {}, triggers => [] } };
    if ($new->{installed_size} // 0) {
        my $error = unpack_package($job);
        if (defined $error) {
            failure(label($new) . ": $error");
            discard($job);
            return 0;
        }
    }
    my $old_record = $old ? $old->{record} : undef;
    $new->{record} = $job->{record};
    commit_files($run, $new);
    $run->{installed}{ $new->{name} } = $new;
    remove_files($run, { package => $old, record => $old_record, kept => $new->{record} }) if $old;
    delete $old->{record} if $old && $old != $new;
    $new->{is_new} = 1;
    run_script($run, $new, $old ? 'post-upgrade' : 'post-install', @arguments);
    return !grep { $new->{record}{flags}{$_} } qw(f s);
}

sub purge {
    my ($run, $package) = @_;
    run_script($run, $package, 'pre-deinstall', $package->{version});
    remove_files($run, { package => $package, record => $package->{record} });
    run_script($run, $package, 'post-deinstall', $package->{version});
    delete $run->{installed}{ $package->{name} };
    delete $package->{record};
    return 1;
}

# What is wrong with the package, if so. The script comes before the second half is checked.
sub unpack_package {
    my ($job) = @_;
    my ($run, $package) = @$job{qw(run package)};
    my ($opened, $error, $bytes) = open_download($run, $package);
    return $error if defined $error;
    return 'v2 package integrity error' if $opened->{identity} ne $package->{identity};
    read_information($job, $opened);
    # run_script looks for the script with the package.
    my $before = $package->{record};
    $package->{record} = $job->{record};
    run_script($run, $package, $job->{is_new} ? 'pre-install' : 'pre-upgrade', @{ $job->{arguments} });
    if (defined $before) { $package->{record} = $before } else { delete $package->{record} }
    return $opened->{data_error} if defined $opened->{data_error};
    if (keeps_packages($run) && !defined $package->{cached}) {
        store_file(cache_folder($run) . '/' . cache_name($package), $bytes);
    }
    for my $entry (@{ $opened->{data} }) {
        my $stopped = $entry->{type} eq '5' ? add_folder($job, $entry) : add_file($job, $entry);
        return $stopped if defined $stopped;
    }
    return;
}

sub read_information {
    my ($job, $opened) = @_;
    my $record = $job->{record};
    $record->{scripts} = $opened->{scripts};
    for my $line (@{ $opened->{info} }) {
        if ($line =~ /^replaces = (.*)/) { push @{ $record->{replaces} }, @{ parse_dependencies($1) // [] } }
        if ($line =~ /^triggers = (.*)/) { $record->{triggers} = [split ' ', $1] }
    }
}

sub add_folder {
    my ($job, $entry) = @_;
    my $name = $entry->{name} =~ s{/+\z}{}r;
    my $folder = { name => $name, files => [] };
    $folder->{owner} = owner_text($entry) if owner_text($entry) ne '0:0:755';
    push @{ $job->{record}{folders} }, $folder;
    my $path = "$job->{run}{root}/$name";
    return if -d $path;
    chmod $entry->{mode}, $path if mkdir $path;
    return;
}

sub owner_text { return sprintf '%d:%d:%o', @{ $_[0] }{qw(uid gid mode)} }

# Undef unless the disk is full: other failures mark the package.
sub add_file {
    my ($job, $entry) = @_;
    my ($run, $package, $record) = @$job{qw(run package record)};
    my ($folder_name, $name) = $entry->{name} =~ m{\A(?:(.*)/)?([^/]+)\z};
    my ($folder) = grep { $_->{name} eq ($folder_name // '') } @{ $record->{folders} };
    if (!$folder) { push @{ $record->{folders} }, $folder = { name => $folder_name // '', files => [] } }
    my $owner = owner_of($run, $entry->{name});
    if ($owner && $owner != $package) {
        my $verdict = may_replace($owner, $package, $record);
        return if $verdict eq 'no';
        if ($verdict eq 'conflict' && !$run->{force_overwrite}) {
            failure(label($package) . ": trying to overwrite $entry->{name} owned by " . label($owner) . '.');
            $record->{flags}{f} = 1;
            return;
        }
        my $text = label($package) . ": overwriting $entry->{name} owned by " . label($owner) . '.';
        warning($text) if $verdict eq 'conflict';
    }
    my $file = { name => $name };
    $file->{owner} = owner_text($entry) if $entry->{type} ne '2' && owner_text($entry) ne '0:0:644';
    $file->{owner} = '0:0:777' if $entry->{type} eq '2';
    push @{ $folder->{files} }, $file;
    my $error = extract_file($job, $entry, $file);
    return if !defined $error;
    failure(label($package) . ": failed to extract $entry->{name}: $error");
    $record->{flags}{f} = $file->{is_broken} = 1;
    return $error eq 'No space left on device' ? $error : undef;
}

# Who owned the file before: whether it may be taken, is left alone, or is in dispute.
sub may_replace {
    my ($owner, $package, $record) = @_;
    return 'yes' if $owner->{name} eq $package->{name} || $owner->{is_leaving};
    my $claims = sub {
        my ($replaces, $other) = @_;
        my $provider = { package => $other, version => $other->{version} };
        return grep { $_->{name} eq $other->{name} && satisfies($_, $provider) } @{ $replaces // [] };
    };
    return 'yes' if $claims->($record->{replaces}, $owner);
    return 'no' if $claims->($owner->{record}{replaces}, $package);
    return 'yes' if length($owner->{origin} // '') && $owner->{origin} eq ($package->{origin} // '');
    return 'conflict';
}

sub extract_file {
    my ($job, $entry, $file) = @_;
    my $content = $entry->{type} eq '2' ? $entry->{link} : $entry->{content};
    return 'file format is obsolete (e.g. missing embedded checksum)' if !defined $entry->{sha1};
    return $apk::archive::BAD_FORMAT if Digest::SHA::sha1_hex($content) ne $entry->{sha1};
    my $path = temporary_path($job->{run}, $entry->{name});
    unlink $path;
    $file->{sum} = 'Q1' . MIME::Base64::encode_base64(pack('H*', $entry->{sha1}), '');
    if ($entry->{type} eq '2') { return symlink($entry->{link}, $path) ? undef : failed($file) }
    open(my $output, '>:raw', $path) or return failed($file);
    my $is_whole = print $output $content;
    if (!close $output || !$is_whole) { my $reason = failed($file); unlink $path; return $reason }
    chown $entry->{uid}, $entry->{gid}, $path;
    chmod $entry->{mode}, $path;
    utime $entry->{mtime}, $entry->{mtime}, $path;
    return;
}

# The database has no checksum of a file that is not there.
sub failed {
    my ($file) = @_;
    delete $file->{sum};
    return "$!";
}

# A package that could not be had leaves neither its files nor the folders that it would have brought.
sub discard {
    my ($job) = @_;
    my $run = $job->{run};
    my @folders = @{ $job->{record}{folders} };
    for my $folder (@folders) {
        unlink temporary_path($run, path_in($folder, $_)) for @{ $folder->{files} };
    }
    remove_folders($run, map { $_->{name} } @folders);
}

1;
