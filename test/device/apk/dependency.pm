package apk::dependency;

# Dependencies: [!]name[@tag][operator version]. With "!" the name must not be there; "><" means the
# very package with that identity; "~" any version that begins so.
use strict;
use exports qw(parse_dependency parse_dependencies dependency_text dependencies_text satisfies);
use apk::version;

# Undef if the text is no dependency; broken ones have a version that is none.
sub parse_dependency {
    my ($text) = @_;
    my ($conflict, $name, $operator, $version) = $text =~ /\A(!?)([^<>=~\s!]*)(?:([<>=~]+)([^<>=~\s]\S*))?\z/ or return;
    my ($plain, $tag) = $name =~ /\A([^@]*)(?:@(.+))?\z/ or return;
    return {
        name => $plain, tag => $tag, operator => $operator // '', version => $version // '',
        conflict => $conflict ne '',
        broken => defined $operator && $operator ne '><' && !is_version($version),
    };
}

sub parse_dependencies {
    my ($text) = @_;
    my @parsed = map { parse_dependency($_) // return } split ' ', $text;
    return \@parsed;
}

sub dependency_text {
    my ($of) = @_;
    my $tag = defined $of->{tag} ? "\@$of->{tag}" : '';
    return ($of->{conflict} ? '!' : '') . "$of->{name}$tag$of->{operator}$of->{version}";
}

sub dependencies_text { return join ' ', map { dependency_text($_) } @{ $_[0] } }

# Whether a provider, { package, version } with the version by which it provides the name, is what the
# dependency wants; no provider is what a conflict wants. Nobody conflicts with itself.
sub satisfies {
    my ($dependency, $provider, $requirer) = @_;
    return $dependency->{conflict} if !$provider;
    my $is_itself = $requirer && $requirer == $provider->{package};
    return 1 if $dependency->{conflict} && $is_itself;
    my $matches = matches($dependency, $provider);
    return $dependency->{conflict} ? !$matches : $matches;
}

sub matches {
    my ($dependency, $provider) = @_;
    my ($operator, $wanted) = @$dependency{qw(operator version)};
    return 1 if $operator eq '';
    return $provider->{package}{identity} eq $wanted if $operator eq '><';
    my $version = $provider->{version};
    return 1 if !defined $version;
    return 1 if $operator =~ /~/ && $version =~ /\A\Q$wanted\E(?![0-9])/;
    my $order = compare_versions($version, $wanted);
    return $order < 0 ? $operator =~ /</ : $order > 0 ? $operator =~ />/ : $operator =~ /=/;
}

1;
