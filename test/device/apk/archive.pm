package apk::archive;

# Archives of the second format: gzip streams in a row, whose contents in a row are one tar.
use strict;
use exports qw(gzip_streams read_tar $BAD_FORMAT $SHORT);
use gzip;

our $BAD_FORMAT = 'file format is invalid or inconsistent';
our $SHORT = 'unexpected end of file';

# The streams of a file as { packed, content }, as far as they are good, and what is wrong after them.
sub gzip_streams {
    my ($bytes) = @_;
    my @streams;
    return ([], $SHORT) if !length $bytes;
    while (length $bytes) {
        my $whole = $bytes;
        my ($content, $status) = unpack_stream($bytes);
        return (\@streams, $SHORT, $content) if grep { $_ == $status } @STREAM_SHORT;
        return (\@streams, $BAD_FORMAT, $content) if $status != $STREAM_END;
        push @streams, { packed => substr($whole, 0, length($whole) - length($bytes)), content => $content };
    }
    return (\@streams, undef);
}

# The entries as far as they are whole, and whether the tar ends well.
sub read_tar {
    my @entries;
    my $at = 0;
    my %pax;
    while (length($_[0]) >= $at + 512) {
        my $header = substr($_[0], $at, 512);
        if ($header =~ /\A\0/) { $at += 512; next }
        my ($name, $mode, $uid, $gid, $size, $mtime, $type, $link, $magic, $prefix) =
            unpack 'Z100 Z8 Z8 Z8 Z12 Z12 x8 a1 Z100 a6 x82 Z155', $header;
        return (\@entries, 'v2 package format error') if $magic !~ /^ustar/;
        my $length = octal($size);
        return (\@entries, $SHORT) if length($_[0]) < $at + 512 + $length;
        my $content = substr($_[0], $at + 512, $length);
        $at += 512 + 512 * int(($length + 511) / 512);
        if ($type eq 'x') { %pax = $content =~ /^\d+ ([^=]+)=(.*)\n/mg; next }
        push @entries, {
            name => length $prefix ? "$prefix/$name" : $name, mode => octal($mode) & 07777, uid => octal($uid),
            gid => octal($gid), mtime => octal($mtime), type => $type, link => $link, content => $content,
            sha1 => $pax{'APK-TOOLS.checksum.SHA1'},
        };
        %pax = ();
    }
    return (\@entries, undef);
}

sub octal { return oct($_[0] =~ s/\s//gr || 0) }

1;
