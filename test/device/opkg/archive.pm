package opkg::archive;

# Packages as files: a gzipped tar of debian-binary, data.tar.gz and control.tar.gz. Unpacking makes no folder that the
# archive does not name, replaces a file by unlinking it first, and gives folders that exist the archive's mode.
use strict;
use exports qw(inflate control_members data_members extract forget_archive);
use gzip;
use opkg::messages;

# The decompressed content, as far as gzip gets with it; its complaints are not shown.
sub inflate {
    my ($path) = @_;
    open(my $file, '<:raw', $path) or return '';
    my $packed = do { local $/; <$file> } // '';
    return inflate_good($packed) // inflate_by_gzip($path);
}

# Undefined unless all streams are good.
sub inflate_good {
    my ($packed) = @_;
    my $content = '';
    do {
        my ($part, $status) = unpack_stream($packed);
        return if $status != $STREAM_END;
        $content .= $part;
    } while $packed =~ /\A\x1f\x8b/;
    return $content;
}

sub inflate_by_gzip {
    my ($path) = @_;
    my $reader = open(my $output, '-|') // return '';
    if (!$reader) {
        open(STDERR, '>', '/dev/null');
        exec 'gzip', '-d', '-c', $path;
    }
    binmode $output;
    local $/;
    my $content = <$output>;
    close $output;
    return $content // '';
}

sub control_members { return members_of(@_, 'control.tar.gz') }

sub data_members { return members_of(@_, 'data.tar.gz') }

# The decompressed halves of a package stay with it until it is unpacked.
sub members_of {
    my ($run, $package, $half) = @_;
    my $path = $package->{local_file};
    if (!open(my $file, '<', $path)) {
        system_failure('wfopen', $path);
        return;
    }
    if (!$package->{archive}) { $package->{archive} = { map { $_->{name} =~ s{^\./}{}r => $_->{content} } read_tar(inflate($path)) } }
    my $packed = $package->{archive}{$half} // return [];
    $package->{archive}{"$half open"} //= [read_tar(inflate_good($packed) // inflate_by_gzip(write_temporary($run, $packed)))];
    return $package->{archive}{"$half open"};
}

sub forget_archive { delete $_[0]{archive} }

sub write_temporary {
    my ($run, $content) = @_;
    my $path = "$run->{tmp_dir}/member.tar.gz";
    open(my $file, '>:raw', $path) or return $path;
    print $file $content;
    close $file;
    return $path;
}

sub read_tar {
    my @members;
    my ($at, $long_name, $long_link) = (0, undef, undef);
    while (length($_[0]) >= $at + 512) {
        my ($name, $mode, $uid, $gid, $size, $mtime, $type, $link, $magic, $prefix) =
            unpack 'Z100 Z8 Z8 Z8 Z12 Z12 x8 a1 Z100 a6 x82 Z155', substr($_[0], $at, 512);
        last if $magic !~ /^ustar/;
        my $length = oct($size =~ s/\s//gr || 0);
        my $content = substr($_[0], $at + 512, $length);
        $at += 512 + 512 * int(($length + 511) / 512);
        if ($type eq 'L') { $long_name = $content =~ s/\0.*//sr; next }
        if ($type eq 'K') { $long_link = $content =~ s/\0.*//sr; next }
        push @members, {
            name => $long_name // (length $prefix ? "$prefix/$name" : $name), mode => oct($mode =~ s/\s//gr || 0) & 07777,
            uid => oct($uid || 0), gid => oct($gid || 0), mtime => oct($mtime =~ s/\s//gr || 0),
            type => $type, link => $long_link // $link, content => $content,
        };
        ($long_name, $long_link) = (undef, undef);
    }
    return @members;
}

# The prefix is put before each name as it is: it need not be a folder.
sub extract {
    my ($members, $prefix) = @_;
    for my $member (@$members) {
        my $name = $member->{name} =~ s{^\./}{}r;
        next if $name eq '';
        extract_member($member, $prefix, $name);
    }
}

sub extract_member {
    my ($member, $prefix, $name) = @_;
    my $path = $prefix . $name;
    unlink $path if -l $path || -e $path && !-d $path;
    if ($member->{type} eq '5') {
        -d $path || mkdir($path, $member->{mode}) || system_failure('extract_archive', "Cannot make dir $path");
    } elsif ($member->{type} eq '2') {
        symlink($member->{link}, $path) || system_failure('extract_archive', "Cannot create symlink from $member->{name} to '$member->{link}'");
        return;
    } elsif ($member->{type} eq '1') {
        link($prefix . $member->{link}, $path);
    } elsif (open(my $file, '>:raw', $path)) {
        print $file $member->{content};
        close $file;
    } else {
        return system_failure('wfopen', $path);
    }
    utime $member->{mtime}, $member->{mtime}, $path;
    chown $member->{uid}, $member->{gid}, $path;
    chmod $member->{mode}, $path;
}

1;
