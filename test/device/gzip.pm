package gzip;

# gzip streams, one by one.
use strict;
use exports qw(unpack_stream pack_gzip $STREAM_END @STREAM_SHORT);
use compiled 'Compress::Raw::Zlib';

our $STREAM_END = 1;
# It goes on, or there is nothing of it.
our @STREAM_SHORT = (0, -5);

my ($APPEND_OUTPUT, $CONSUME_INPUT) = (1, 8);
my $GZIP_OF_ANY_WINDOW = 16 + 15;
my ($USUAL_LEVEL, $DEFLATED, $MOST_MEMORY, $USUAL_STRATEGY) = (-1, 8, 9, 0);
my $BLOCK = 4096;

# Takes the stream at the front away from the bytes: what it holds, as far as it is good, and zlib's number for how it ended.
sub unpack_stream {
    my ($inflater) = Compress::Raw::Zlib::_inflateInit($APPEND_OUTPUT | $CONSUME_INPUT, $GZIP_OF_ANY_WINDOW, $BLOCK, '');
    my $content = '';
    my $status = $inflater->inflate($_[0], $content);
    return ($content, 0 + $status);
}

sub pack_gzip {
    my ($content) = @_;
    my ($deflater) = Compress::Raw::Zlib::_deflateInit(
        $APPEND_OUTPUT, $USUAL_LEVEL, $DEFLATED, $GZIP_OF_ANY_WINDOW, $MOST_MEMORY, $USUAL_STRATEGY, $BLOCK, '');
    my $packed = '';
    $deflater->deflate($content, $packed);
    $deflater->flush($packed);
    return $packed;
}

1;
