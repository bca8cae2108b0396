package apk::package;

# A package as indexes, the database and package files describe it: lines of a letter, a colon and a
# value.
use strict;
use exports qw(add_line header_text provided_names needs label);
use apk::dependency;

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

1;
