package opkg::pattern;

# Names as fnmatch(3) matches them without flags: a star also stands for slashes and leading dots.
use strict;
use exports qw(name_pattern);

sub name_pattern {
    my ($run, $glob) = @_;
    my $text = '';
    while ($glob =~ /\G(?:(\*)|(\?)|\[([!^]?)(\]?[^\]]*)\]|\\(.)|(.))/gs) {
        if (defined $1) { $text .= '.*' }
        elsif (defined $2) { $text .= '.' }
        elsif (defined $4) { $text .= '[' . ($3 ? '^' : '') . $4 =~ s/([\\\[\]^&])/\\$1/gr . ']' }
        else { $text .= quotemeta($5 // $6) }
    }
    return $run->{nocase} ? qr/\A$text\z/si : qr/\A$text\z/s;
}

1;
