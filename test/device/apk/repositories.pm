package apk::repositories;

# Feeds and the copies of their indexes. A copy is fetched again when it is missing or old, by commands
# that may write; a bad one is not taken, and the good old one stays.
use strict;
use exports qw(open_repositories cache_folder cache_name keeps_packages store_file);
use apk::archive;
use apk::catalogue;
use apk::database;
use apk::messages;
use apk::package;
use compiled 'Digest::SHA';
use later 'apk::download' => 'download';
use later 'apk::signature' => 'signature_fault';

my $MOST_AGE_MINUTES = 4 * 60;

sub open_repositories {
    my ($run, $may_fetch) = @_;
    $run->{feeds} = [];
    $run->{unavailable} = $run->{stale} = 0;
    return if $run->{only_installed} || $run->{manifest} || ($run->{from} // '') eq 'installed';
    for (listed_feeds($run)) {
        my ($url, $tag) = @$_;
        my ($feed) = grep { $_->{url} eq $url } @{ $run->{feeds} };
        push @{ $run->{feeds} }, $feed = { url => $url, number => scalar @{ $run->{feeds} }, tags => {} } if !$feed;
        $feed->{tags}{$tag} = 1;
    }
    $may_fetch &&= !is_offline($run);
    open_feed($run, $_, $may_fetch) for @{ $run->{feeds} };
    mark_cached($run);
}

sub is_offline { return defined $_[0]{network} && !$_[0]{network} }

# Each with its tag, which is empty for most.
sub listed_feeds {
    my ($run) = @_;
    my @files = grep { /\.list\z/ } visible_files("$run->{root}/etc/apk/repositories.d");
    my @feeds;
    my @paths = defined $run->{repositories_file} ? $run->{repositories_file} : ("$run->{root}/etc/apk/repositories", @files);
    for my $path (@paths) {
        open(my $file, '<', $path) or next;
        while (my $line = <$file>) {
            next if $line =~ /^(?:#|\s*$)/;
            my ($word, @others) = split ' ', $line;
            my $tag = $word =~ /^\@(.+)/ ? $1 : '';
            $word = shift @others // '' if $tag ne '';
            if ($word =~ m{^/|://}) { push @feeds, [$word, $tag] }
            elsif ($word eq 'ndx') { push @feeds, [$others[0], $tag] }
            else { warning(($path =~ s{.*/}{}r) . ":$.: unrecogized keyword: $word") }
        }
    }
    return @feeds;
}

# Packages whose file lies in the cache need no network, if packages are cached at all.
sub mark_cached {
    my ($run) = @_;
    my $folder = cache_folder($run);
    return if !keeps_packages($run);
    my @files = map { s{.*/}{}r } grep { /\.apk\z/ } visible_files($folder) or return;
    my %is_there = map { $_ => 1 } @files;
    for my $package (values %{ $run->{packages} }) {
        my $name = cache_name($package);
        $package->{cached} = "$folder/$name" if $is_there{$name} && -s "$folder/$name" == ($package->{size} // 0);
    }
}

sub keeps_packages {
    my ($run) = @_;
    return $run->{cache_predownload} || defined $run->{cache_dir} || cache_folder($run) =~ m{/etc/apk/cache\z};
}

# Whole or not at all; false with the reason in the error number.
sub store_file {
    my ($path, $bytes) = @_;
    my $temporary = "$path.tmp.$$";
    open(my $file, '>:raw', $temporary) or return 0;
    my $is_whole = print $file $bytes;
    return 1 if close $file and $is_whole and rename $temporary, $path;
    my $reason = $!;
    unlink $temporary;
    $! = $reason;
    return 0;
}

sub cache_name {
    my ($package) = @_;
    return label($package) . '.' . substr(identity_hex($package), 0, 8) . '.apk';
}

sub cache_folder {
    my ($run) = @_;
    return chosen_cache($run) if defined $run->{cache_dir};
    my $lasting = "$run->{root}/etc/apk/cache";
    return $lasting if -d $lasting;
    my $folder = "$run->{root}/var/cache/apk";
    if (!-d $folder) { mkdir "$run->{root}/var/cache", 0755; mkdir $folder, 0755 }
    return $folder;
}

# It has to be there.
sub chosen_cache {
    my ($run) = @_;
    my $folder = $run->{cache_dir} =~ m{^/} ? $run->{cache_dir} : "$run->{root}/$run->{cache_dir}";
    give_up("Unable to setup the cache: $!", "Failed to open apk database: $!") if !-d $folder;
    return $folder;
}

sub open_feed {
    my ($run, $feed, $may_fetch) = @_;
    my $is_remote = $feed->{url} =~ m{^\w+://} && $feed->{url} !~ m{^file:};
    $feed->{copy} = $is_remote
        ? cache_folder($run) . '/APKINDEX.' . substr(Digest::SHA::sha256_hex($feed->{url}), 0, 8) . '.tar.gz'
        : $feed->{url} =~ s{^file://}{}r;
    $feed->{is_local} = !$is_remote;
    my $update_error = $is_remote && $may_fetch && is_stale($run, $feed->{copy}) ? fetch_index($run, $feed) : undef;
    my $error = load_index($run, $feed);
    $feed->{is_open} = !$error;
    $feed->{is_reachable} = !$error && (!$is_remote || !is_offline($run));
    return if !$error && !$update_error;
    if ($is_remote) { $run->{ $error ? 'unavailable' : 'stale' }++ }
    my $opening = $is_remote ? 'opening from cache' : 'opening';
    my $action = !$update_error ? $opening : $error ? 'updating and opening' : 'updating';
    warning("$action $feed->{url}: " . ($update_error // $error));
}

sub is_stale {
    my ($run, $copy) = @_;
    return 1 if $run->{command} eq 'update' || $run->{update_cache};
    my $most = 60 * ($run->{cache_max_age} // $MOST_AGE_MINUTES);
    my $changed = (stat $copy)[9] // return 1;
    return $most == 0 || time - $changed > $most;
}

# Puts the index in the place of the copy if it is good. Returns what is wrong with it.
sub fetch_index {
    my ($run, $feed) = @_;
    my ($bytes, $error) = download($run, $feed->{url});
    my (undef, $fault) = open_index($run, $bytes);
    return $error // $fault if defined $error || defined $fault;
    return store_file($feed->{copy}, $bytes) ? undef : "$!";
}

sub load_index {
    my ($run, $feed) = @_;
    open(my $file, '<:raw', $feed->{copy}) or return "$!";
    my $bytes = do { local $/; <$file> };
    my ($text, $error) = open_index($run, $bytes // '');
    return $error if $error;
    for my $block (split /\n\n+/, $text) {
        my $package = {};
        add_line($package, $1, $2) while $block =~ /^(.):(.*)$/mg;
        next if !defined $package->{name};
        add_package($run, $package)->{feeds}{ $feed->{number} } = 1;
    }
    return;
}

# The text of an index that is signed with a known key, or what is wrong.
sub open_index {
    my ($run, $bytes) = @_;
    my ($streams, $error) = gzip_streams($bytes);
    return (undef, $error) if $error;
    my @entries = map { @{ (read_tar($_->{content}))[0] } } @$streams;
    my ($index) = grep { $_->{name} eq 'APKINDEX' } @entries;
    return (undef, $BAD_FORMAT) if !$index;
    return ($index->{content}, undef) if $run->{allow_untrusted};
    my ($signature) = grep { $_->{name} =~ /^\.SIGN\.RSA256\./ } @entries;
    my $fault = signature_fault($run, $signature, $streams->[-1]{packed});
    return $fault ? (undef, $fault) : ($index->{content}, undef);
}

1;
