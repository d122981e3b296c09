"""What python-client-check does with python-fmrest: the arguments are the sandbox's URL and, for TLS, the CA file."""

import sys

import fmrest
from fmrest.exceptions import FileMakerError
from fmrest.server import Server

url, authority = sys.argv[1], sys.argv[2]


def server(layout="Contacts", password="secret", **options):
    return fmrest.Server(
        url,
        user="admin",
        password=password,
        database="World",
        layout=layout,
        verify_ssl=authority or True,
        api_version="v1",
        **options,
    )


def failure(work, code):
    """The work must fail with this FileMaker code."""
    try:
        work()
    except FileMakerError as error:
        assert str(code) in str(error), error
        return
    raise AssertionError(f"expected error {code}")


contacts = server()
contacts.login()

# Reading: one record, a range, portals, related fields, numbers as numbers.
ada = contacts.get_record(1, portals=[{"name": "Phones", "limit": 1}])
assert ada.Name == "Ada Lovelace" and ada.Balance == 1815.12, ada
assert [row["Phones::Kind"] for row in ada.portal_Phones] == ["work"]
assert [record.City for record in contacts.get_records(offset=2, limit=2)] == ["Paris", "New York"]
everybody = contacts.get_records(sort=[{"fieldName": "Balance", "sortOrder": "descend"}])
assert everybody.info["foundCount"] == 3 and everybody[0].Name == "Grace Hopper"

# Finding, with scripts in all three places and portals.
found = contacts.find(
    [{"Status": "active"}, {"City": "New*", "omit": "true"}],
    scripts={"prerequest": ["Echo", "one"], "presort": ["Echo", "two"], "after": ["Echo", "three"]},
    portals=[{"name": "Phones", "offset": 2, "limit": 1}],
)
assert [record.Id for record in found] == [1]
assert contacts.last_script_result == {"prerequest": [0, "one"], "presort": [0, "two"], "after": [0, "three"]}
assert [row["Phones::Kind"] for row in found[0].portal_Phones] == ["home"]
failure(lambda: contacts.find([{"Name": "Nobody"}]), 401)
assert contacts.perform_script("Fail With", "42")[0] == 42

# Writing: create with a portal row, edit with and without modId.
record_id = contacts.create_record({"Name": "Zoë", "Birthday": "01/05/1990"}, portals={"Phones": [{"Phones::Number": "7"}]})
assert contacts.edit_record(record_id, {"City": "Bern"}, mod_id=0)
failure(lambda: contacts.edit_record(record_id, {"City": "Basel"}, mod_id=9), 306)
record = contacts.get_record(record_id)
record.City = "Biel"
assert contacts.edit(record, validate_mod_id=True)
assert contacts.get_record(record_id).City == "Biel"

# A duplicate, with the empty body that this client makes out of {}.
records = "/fmi/data/v1/databases/World/layouts/Contacts/records"
copy = contacts._call_filemaker("POST", f"{records}/{record_id}", {})["recordId"]
assert contacts.get_record(copy).City == "Biel"
assert contacts.delete_record(copy)

# Containers: up, and down again byte for byte.
with open(sys.argv[0], "rb") as file:
    assert contacts.upload_container(record_id, "Photo", file)
name, kind, length, response = contacts.fetch_file(contacts.get_record(record_id).Photo)
with open(sys.argv[0], "rb") as file:
    assert response.content == file.read()

# Globals live in the session.
assert contacts.set_globals({"Contacts::gFilter": "mine"})
assert contacts.get_record(1).gFilter == "mine"

# Metadata.
assert contacts.get_product_info()["name"] == "FileMaker Data API Engine"
assert any(layout["name"] == "Zones" for layout in contacts.get_layouts())
assert any(script["name"] == "-" for script in contacts.get_scripts())
assert contacts.get_databases() == [{"name": "World"}]

# An expired token is an error, or is renewed by a client that may.
assert contacts.delete_record(record_id)
contacts._token = "0" * 52
failure(lambda: contacts.get_record(1), 952)
patient = server(auto_relogin=True)
patient.login()
patient._token = "0" * 52
assert patient.get_record(1).Name == "Ada Lovelace"
patient.logout()

# A wrong password is refused.
try:
    server(password="wrong").login()
except FileMakerError as error:
    assert "212" in str(error), error
except Exception as error:  # the client raises its own kind for a refused login
    assert "212" in str(error) or "401" in str(error), error
else:
    raise AssertionError("a wrong password logged in")
