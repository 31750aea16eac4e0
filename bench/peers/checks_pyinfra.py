# Ten looks at what is so already, for pyinfra. The twins of these are in checks.yaml (Ansible) and checks-drover.yaml.
from pyinfra.operations import files

for path in ("/etc", "/usr", "/usr/bin", "/usr/lib", "/usr/sbin", "/usr/share", "/var", "/var/lib", "/var/log", "/opt"):
    files.directory(name=f"check {path}", path=path, user="root", group="root", mode="755")
